"""infeed: batches of images from TFRecords, the same bytes every time.

    import infeed
    for batch in infeed.Loader("SHARDS", batch_size=256):
        step(batch.images, batch.labels)
"""

from infeed import _certificates, records
from infeed._engine import option_table
from infeed._errors import DataError
from infeed.batch import Batch
from infeed.fields import Field
from infeed.geometry import Geometry
from infeed.images import decode_image
from infeed.index import Index
from infeed.loader import Loader
from infeed.objects import Objects
from infeed.programs import convert
from infeed.views import View

__all__ = ["Batch", "DataError", "Field", "Geometry", "Index", "Loader", "Objects",
           "View", "convert", "decode_image", "option_table", "records"]
__version__ = "0.1.0"

_certificates.use_certifi()
