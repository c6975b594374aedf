/**
 * The commands that run a node or look at one. Built into a file of its own, which the control plane does not load: it
 * would keep the text of a program that it never runs. Each function loads no more than its command needs.
 */
export const loadKubelet = async () => (await import("./kubelet/run-kubelet.ts")).runKubelet;
/** `nodelet up`. */
export const loadUp = async () => (await import("./up.ts")).up;
/** `nodelet down`. */
export const loadDown = async () => (await import("./down.ts")).down;
/** `nodelet status`. */
export const loadStatus = async () => (await import("./status.ts")).status;
/** `nodelet doctor`. */
export const loadDoctor = async () => (await import("./doctor.ts")).doctor;
