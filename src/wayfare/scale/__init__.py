"""Past one machine: the same exact search over shards on a Dask cluster.

    storage.py   where shards lie: a folder, or what fsspec reaches
    pieces.py    what one task reads
    fitting.py   a weighting fitted once, over all shards
    reading.py   from a piece to the documents of a shard
    together.py  collections over one set of words
    holding.py   the shards of one worker, searched as one
    workers.py   what runs on the workers
    manifest.py  which folders count
    fanout.py    one batch of queries over all shards
    merging.py   one answer out of those of the shards
    sharded.py   `ShardedIndex`, `open`
    building.py  `build`

Scheduling, retrying and moving data are Dask's.
"""

from wayfare.scale.building import build
from wayfare.scale.sharded import ShardedIndex, ShardsInfo
from wayfare.scale.sharded import open_shards as open

__all__ = ["ShardedIndex", "ShardsInfo", "build", "open"]
