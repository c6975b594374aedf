/**
 * Loads the commands that run a node or inspect one. This module is built into a file of its own, which the control
 * plane does not load, so that it does not hold the text of code that it never runs. Each function loads no more than
 * its command needs.
 */
export const loadKubelet = async () => (await import("./kubelet/run-kubelet.ts")).runKubelet;
/** Loads the command `nodelet up`. */
export const loadUp = async () => (await import("./up.ts")).up;
/** Loads the command `nodelet down`. */
export const loadDown = async () => (await import("./down.ts")).down;
/** Loads the command `nodelet explain`. */
export const loadExplain = async () => (await import("./explain/explain.ts")).explain;
/** Loads the command `nodelet status`. */
export const loadStatus = async () => (await import("./status.ts")).status;
/** Loads the command `nodelet doctor`. */
export const loadDoctor = async () => (await import("./doctor.ts")).doctor;
/** Loads the commands `nodelet install` and `nodelet uninstall`. */
export const loadService = async () => await import("./service.ts");
/** Loads the command `nodelet proxy`. */
export const loadProxy = async () => (await import("./proxy/run-proxy.ts")).runProxy;
/** Loads the command `nodelet images`. */
export const loadImages = async () => (await import("./images.ts")).images;
/** Loads the command `nodelet dashboard`. */
export const loadDashboard = async () => (await import("./dashboard.ts")).dashboard;
