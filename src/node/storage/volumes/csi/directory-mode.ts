/** Directories of volumes are nobody else's. */
export const DIRECTORY_MODE = 0o750;
