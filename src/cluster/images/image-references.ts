/**
 * The images that nodelet brings along. `localhost` keeps them from ever being looked for in a registry; the tag names
 * their content and is raised when that changes.
 */
export const PAUSE_IMAGE = "localhost/nodelet/pause:1";
export const DEMO_IMAGE = "localhost/nodelet/demo:1";
