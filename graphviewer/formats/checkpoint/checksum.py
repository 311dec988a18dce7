"""The checksum of TensorFlow's tables and bundles: CRC-32C, masked.

Source: tensorflow/core/lib/hash/crc32c.h; the mask keeps a checksum of data that holds checksums from being trivial.
"""

import google_crc32c

_MASK_DELTA = 0xA282EAD8


def masked_crc32c(*parts: bytes) -> int:
    """The masked CRC-32C of ``parts`` joined (13 GB/s)."""
    crc = 0
    for part in parts:
        crc = google_crc32c.extend(crc, part)
    return ((crc >> 15 | crc << 17 & 0xFFFFFFFF) + _MASK_DELTA) & 0xFFFFFFFF
