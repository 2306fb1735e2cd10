"""The page in a real browser: Chromium without a window, driven by Selenium.

Where the browser is not there, these tests skip and say so; `make browser` installs it on Debian.
"""

import json
import shlex
import shutil
import subprocess
from urllib.parse import urlencode, urlsplit

import pytest
from served import HOSTILE

pytest.importorskip("selenium", reason="selenium is not installed")

from selenium import webdriver
from selenium.common.exceptions import (
    StaleElementReferenceException,
    TimeoutException,
    WebDriverException,
)
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

QUERY = "interest rates go up again, says the bank"
A, B = "Obama speaks to the media in Illinois", "The president greets the press in Chicago"
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",  # tests may run as root, in a container
    "--disable-gpu",
    "--disable-dev-shm-usage",
    # What Chromium itself would ask the internet for.
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
)


@pytest.fixture(scope="module")
def browser():
    found = {name: shutil.which(name) for name in ("chromium", "chromedriver")}
    if missing := [name for name, path in found.items() if path is None]:
        pytest.skip(f"{' and '.join(missing)} not found: `make browser` installs them on Debian")
    options = webdriver.ChromeOptions()
    options.binary_location = found["chromium"]
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        driver = webdriver.Chrome(options, webdriver.ChromeService(found["chromedriver"]))
    except WebDriverException as error:
        pytest.skip(f"Chromium does not start here: {str(error).splitlines()[0]}")
    yield driver
    driver.quit()


class Page:
    """One page that was just opened."""

    def __init__(self, driver, address):
        self.driver, self.address = driver, address

    def open(self, width=1100, scheme="light", **fragment):
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        self.driver.get("about:blank")
        self.driver.get(f"{self.address}#{urlencode(fragment)}")
        self.until(
            lambda: self.driver.execute_script("return document.documentElement.dataset.ready")
        )
        return self

    def until(self, condition, seconds=20):
        wait = WebDriverWait(
            self.driver, seconds, 0.05, ignored_exceptions=[StaleElementReferenceException]
        )
        try:
            return wait.until(lambda _: condition())
        except TimeoutException:
            said = [light.text for light in self.all(".light") if light.is_displayed()]
            raise AssertionError(f"waited in vain; the page says {said}") from None

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.until(lambda: next((e for e in self.all(selector) if e.is_displayed()), None))

    @property
    def focused(self):
        return self.driver.switch_to.active_element

    def press(self, *keys):
        for key in keys:
            self.focused.send_keys(key)

    def state(self, light="#search-light"):
        return self.all(light)[0].get_attribute("data-state")

    def script(self, code):
        return self.driver.execute_script(code)


@pytest.fixture
def page(browser, address):
    for log in ("browser", "performance"):
        browser.get_log(log)
    opened = Page(browser, address)
    yield opened
    # Whatever a test did: nothing was reported, and nothing left the machine.
    complaints = [entry for entry in browser.get_log("browser") if entry["level"] != "INFO"]
    assert not complaints
    hosts = set()
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            url = urlsplit(message["params"]["request"]["url"])
            if url.scheme not in ("data", "about", "chrome"):
                hosts.add(url.netloc)
    assert hosts == {urlsplit(address).netloc}


def test_search_and_open_a_plan(page):
    page.open()
    page.one("#query").send_keys(QUERY, Keys.ENTER)
    page.until(lambda: page.state() == "exact")
    hits = page.all(".hit")
    assert len(hits) == 10
    first = hits[0].find_element(By.CSS_SELECTOR, ".text")
    assert "interest rate" in first.text
    assert "interest" in {mark.text for mark in first.find_elements(By.TAG_NAME, "mark")}
    assert "no other of 64 documents is nearer" in page.one("#search-light").text
    low, high = (
        hits[0].find_element(By.CSS_SELECTOR, ".distance").text.split("[")[1][:-1].split(",")
    )
    distance = float(hits[0].find_element(By.TAG_NAME, "b").text)
    assert float(low) - 1e-4 <= distance <= float(high) + 1e-4
    hits[0].find_element(By.CSS_SELECTOR, ".why").click()
    plan = page.one(".hit .plan svg")
    assert len(plan.find_elements(By.CSS_SELECTOR, ".ribbon")) >= 3
    assert plan.get_attribute("aria-label")
    page.one(".hit .ledger summary").click()
    rows = page.all(".hit .ledger tbody td:first-child")
    total = page.one(".hit .ledger tfoot td").text
    assert sum(float(row.text) for row in rows) == pytest.approx(float(total), abs=1e-4 * len(rows))


def test_the_work_behind_the_light(page):
    page.open(q=QUERY)
    page.until(lambda: page.state() == "exact")
    page.one("#search-light summary").click()
    assert "in the collection" in page.one("#search-light dl").text


def test_the_slider_redraws(page):
    page.open(tab="compare", a=A, b=B)
    page.until(lambda: page.state("#compare-light") == "exact")
    before = page.one("#compare-plan h2").text
    slider = page.one("#eta")
    slider.send_keys(Keys.ARROW_LEFT * 25)
    page.until(lambda: page.one("#compare-plan h2").text != before)
    page.until(lambda: f"eta {page.one('#eta-shown').text}" in page.one("#compare-plan .sub").text)
    # So little reach, that words are destroyed and created.
    slider.send_keys(Keys.HOME)
    page.until(lambda: page.all("#compare-plan .legend .destroyed"))
    page.until(lambda: page.all("#compare-plan .legend .created"))
    # The answers to what was typed meanwhile do not overtake the last.
    slider.send_keys(Keys.END)
    page.until(lambda: "eta 4" in page.one("#compare-plan .sub").text)
    assert not page.all("#compare-plan .legend .destroyed")


def test_an_example_to_compare(page):
    page.open(tab="compare")
    page.one("#example").click()
    page.one("#compare-plan svg")
    assert page.focused.get_attribute("id") == "eta"


def test_everything_by_keyboard(page):
    page.open()
    assert page.focused.get_attribute("id") == "query"
    page.press(QUERY, Keys.ENTER)
    page.until(lambda: page.state() == "exact")
    page.press(Keys.ARROW_DOWN)
    assert "why" in page.focused.get_attribute("class")
    page.press(Keys.ARROW_DOWN, Keys.ENTER)
    second = page.all(".hit")[1]
    page.until(lambda: second.find_elements(By.CSS_SELECTOR, ".plan svg"))
    assert page.focused.get_attribute("aria-expanded") == "true"
    page.press(Keys.ESCAPE)
    assert page.focused.get_attribute("aria-expanded") == "false"
    page.press(Keys.ARROW_UP, Keys.ARROW_UP)
    assert page.focused.get_attribute("id") == "query"
    page.press(Keys.SHIFT + Keys.TAB)
    assert page.focused.get_attribute("id") == "tab-search"
    page.press(Keys.ARROW_RIGHT)
    assert page.focused.get_attribute("id") == "tab-compare"
    page.press(Keys.TAB, A, Keys.TAB, B, Keys.TAB)
    assert page.focused.get_attribute("id") == "eta"
    page.until(lambda: page.state("#compare-light") == "exact")
    page.driver.find_element(By.TAG_NAME, "body").send_keys("/")
    assert page.focused.get_attribute("id") == "query"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone(page, scheme):
    page.open(width=380, scheme=scheme, q=QUERY)
    page.until(lambda: page.state() == "exact")
    page.all(".why")[0].click()
    page.one(".hit .plan svg")
    page.one("details.settings summary").click()
    page.one(".hit .ledger summary").click()
    assert page.script("return document.documentElement.scrollWidth") <= 380
    page.one("#tab-compare").click()
    page.one("#example").click()
    page.one("#compare-plan svg")
    assert page.script("return document.documentElement.scrollWidth") <= 380
    sizes = page.script(
        "return [...document.querySelectorAll('button, summary, input')].filter(e => e.offsetHeight)"
        ".map(e => [e.textContent || e.id, e.getBoundingClientRect().height])"
    )
    assert min(height for _, height in sizes) >= 20, sizes


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_paper(page, scheme):
    page.open(scheme=scheme, q=QUERY)
    page.until(lambda: page.state() == "exact")
    colours = page.script(
        "const s = getComputedStyle(document.documentElement);"
        "return ['paper', 'raised', 'ink', 'muted', 'carried', 'warn']"
        ".map(n => s.getPropertyValue('--' + n).trim())"
    )
    paper, raised, *inks = [_luminance(colour) for colour in colours]
    for ink in inks:
        for ground in (paper, raised):
            bright, dim = max(ink, ground), min(ink, ground)
            assert (bright + 0.05) / (dim + 0.05) >= 4.5, colours


def _luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def test_empty_states(page):
    page.open()
    assert "with a proof" in page.one("#search-empty").text
    page.one("#query").send_keys("xqzzyqx", Keys.ENTER)
    page.until(lambda: page.state() in ("error", "exact"))
    page.one("#query").clear()
    page.one("#query").send_keys("the of and", Keys.ENTER)
    page.until(lambda: "No word of this is known" in page.one("#search-light").text)
    assert not page.all(".hit")
    page.one("#query").clear()
    page.one("#query").send_keys(Keys.ENTER)
    page.one("#search-empty")


def test_documents_and_queries_are_only_ever_text(page):
    page.open()
    page.one("#query").send_keys(
        "<script>alert(1)</script> <img src=x onerror=alert(2)> fishing", Keys.ENTER
    )
    page.until(lambda: page.state() == "exact")
    shown = {hit.find_element(By.CSS_SELECTOR, ".where").text: hit for hit in page.all(".hit")}
    text = shown["script"].find_element(By.CSS_SELECTOR, ".text").text
    assert text == HOSTILE["script"]
    assert shown["script"].find_element(By.CSS_SELECTOR, ".label").text == "<b>hostile</b>"
    control = shown["control"].find_element(By.CSS_SELECTOR, ".text").text
    assert "\ufffd[31m" in control
    assert not {"\x00", "\x07", "\x1b", "\u202e"} & set(control)
    for hit in shown.values():
        hit.find_element(By.CSS_SELECTOR, ".why").click()
        page.until(lambda hit=hit: hit.find_elements(By.CSS_SELECTOR, ".plan svg"))
    assert not page.all("main script, main img, .hit b:not(.distance b)")
    assert page.driver.title == "Wayfare"


def test_the_page_of_the_api(page):
    page.open()
    page.one("footer a").click()
    page.until(lambda: len(page.all("main.api section")) >= 6)
    assert "POST /api/search" in page.one("main.api").text
    assert "`" not in page.one("main.api").text
    commands = [pre.text for pre in page.all("main.api pre")]
    assert len(commands) >= 6
    assert all(command.startswith("curl http://127.0.0.1") for command in commands)
    if shutil.which("curl") is None:
        return
    for command in commands:
        line = [*shlex.split(command), "--silent", "--fail", "--noproxy", "*"]
        subprocess.run(line, stdout=subprocess.DEVNULL, check=True, timeout=60)


def test_an_error_is_told(page):
    page.open()
    page.script("document.getElementById('query').value = 'rain '.repeat(300000)")
    page.one("#query").send_keys(Keys.ENTER)
    page.until(lambda: page.state() == "error")
    assert "over 1,048,576 bytes" in page.one("#search-light").text
    # Chromium reports every answer of 4xx on its console: this one is meant.
    reported = page.driver.get_log("browser")
    assert all("413" in entry["message"] or "/api/search" in entry["message"] for entry in reported)


def test_the_token_is_asked_for(browser, folder, tmp_path):
    from served import serving

    token = tmp_path / "token"
    token.write_text("correct horse battery")
    with serving(folder, "--token-file", str(token)) as (url, _):
        page = Page(browser, url)
        browser.get("about:blank")
        browser.get(url)
        page.one("#token").send_keys("wrong, and long enough", Keys.ENTER)
        page.until(lambda: page.one("#token").get_attribute("validationMessage"))
        page.one("#token").clear()
        page.one("#token").send_keys("correct horse battery", Keys.ENTER)
        page.until(lambda: "64 documents" in page.one("#about").text)
        page.one("#query").send_keys(QUERY, Keys.ENTER)
        page.until(lambda: page.state() == "exact")
