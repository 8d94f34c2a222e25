# SPDX-License-Identifier: GPL-2.0-only
"""Run approxftl calibrate --device with a regular file in the place of the drive.

The first argument is a directory that stands for the drive's directory in sysfs.
"""

import sys
from pathlib import Path
from unittest.mock import patch

from approxftl_tools import calibrate, calibrate_device

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    with patch.object(calibrate, "find_device",
                      lambda path: calibrate_device.describe_device_in_sysfs(path, folder)):
        sys.exit(calibrate.main(sys.argv[2:]))
