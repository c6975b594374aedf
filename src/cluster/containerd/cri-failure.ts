/** The word of containerd's log about a plugin that its CRI service is made of: `…grpc.v1.cri`, `…cri.v1.runtime`. */
const OF_CRI = /\bio\.containerd\.(grpc\.v1\.cri\b|cri\.v1)/;
const ERROR = /\berror="((?:[^"\\]|\\.)*)"/;
/** The kernel gives each user 128 queues of notifications by default, on many distributions still. */
const QUEUES = "allow more of them: sysctl fs.inotify.max_user_instances=512";

/** Says why a containerd that runs has no CRI service, by what it wrote into its log, and what can be done about it. */
export function findCriFailure(log: string): string {
  const found = log.split("\n").findLast((line) => line.includes("failed to load plugin") && OF_CRI.test(line));
  const reason = ERROR.exec(found ?? "")?.[1]?.replaceAll('\\"', '"');
  if (reason === undefined) return "containerd runs without its CRI service";
  const mend = /fsnotify|inotify/.test(reason) && reason.includes("too many open files") ? `; ${QUEUES}` : "";
  return `containerd runs without its CRI service: ${reason}${mend}`;
}
