// The slider of eta is logarithmic: from words that hardly move to mass that goes anywhere.

const LEAST = 0.1, MOST = 4;

export const fromSlider = (place) => Number((LEAST * (MOST / LEAST) ** (Number(place) / 100)).toPrecision(3));

export const toSlider = (eta) => Math.round(Math.min(Math.max((100 * Math.log(eta / LEAST)) / Math.log(MOST / LEAST), 0), 100));
