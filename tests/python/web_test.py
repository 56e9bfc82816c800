"""A loader of a web server's shard, whose server is a thread of this process."""

import http.server
import re
import threading
import unittest

import numpy as np

import infeed
from support import SIZE, WritesRecords, png


class WebTest(WritesRecords):
    def setUp(self):
        super().setUp()
        image = png(np.zeros((SIZE, SIZE, 3), np.uint8))
        path = self.write([{"image/encoded": image, "image/class/label": label}
                           for label in [1, 2, 3, 4]])
        self.data = path.read_bytes()
        test = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_HEAD(self):
                self.answer(200, b"", len(test.data))

            def do_GET(self):
                first, last = map(int, re.match(
                    r"bytes=(\d+)-(\d+)", self.headers["Range"]).groups())
                part = test.data[first:last + 1]
                self.answer(206, part, len(part), first)

            def answer(self, status, body, size, first=0):
                if not self.path.endswith("train.tfrecord"):
                    status, body, size = 404, b"", 0
                self.send_response(status)
                self.send_header("Content-Length", str(size))
                self.send_header("ETag", '"e"')
                if status == 206:
                    self.send_header("Content-Range", f"bytes {first}-"
                                     f"{first + size - 1}/{len(test.data)}")
                self.end_headers()
                self.wfile.write(body)

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_port}/data/train.tfrecord"

    def test_labels_count_from_1_where_no_files_can_be_listed(self):
        index = infeed.Index(self.url, use_cache=False)
        batches = infeed.Loader(index, batch_size=2, image_size=SIZE,
                                training=False)
        labels = [label for batch in batches for label in batch.labels.tolist()]
        self.assertEqual(labels, [0, 1, 2, 3])


if __name__ == "__main__":
    unittest.main()
