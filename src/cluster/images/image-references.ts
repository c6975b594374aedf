/**
 * The images that nodelet brings along. The host `localhost` prevents any look-up in a registry. The tag names their
 * content and must be raised when that changes.
 */
export const PAUSE_IMAGE = "localhost/nodelet/pause:1";
export const DEMO_IMAGE = "localhost/nodelet/demo:1";
