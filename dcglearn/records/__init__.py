"""Records of files in every format, a block at a time: as columns, and one by one."""
