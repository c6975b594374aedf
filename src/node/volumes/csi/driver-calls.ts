/** What a call of a driver may take, as upstream's `csiTimeout`; the volume's other pods wait for it. */
export const CSI_TIMEOUT_MS = 120_000;

/** Directories of volumes are nobody else's. */
export const DIRECTORY_MODE = 0o750;
