/** The mode of the plugin's own directories of volumes: others than kubelet's user and group may not enter. */
export const DIRECTORY_MODE = 0o750;
