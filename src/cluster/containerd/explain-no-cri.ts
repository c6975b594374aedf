/** Go's words where a process, or all of a user's together, may not watch more files. */
const NO_MORE_WATCHES = /(fsnotify|inotify).*(too many open files|no space left on device)/;

/**
 * Explains why a containerd that answers has no CRI service, from what it has logged: it goes on without a plugin that does
 * not load. Versions differ in whether the plugin is named in the message or beside it.
 */
export function explainNoCri(log: string): string {
  const line = log.split("\n").find((each) => /failed to load plugin.*\.cri\b/.test(each)) ?? "";
  const cause = /\berror="((?:[^"\\]|\\.)*)"/.exec(line)?.[1] ?? "the log does not say why";
  const mend = NO_MORE_WATCHES.test(cause)
    ? "; raise the machine's limits: sysctl -w fs.inotify.max_user_instances=8192 fs.inotify.max_user_watches=524288"
    : "";
  return `containerd runs without its CRI service: ${cause.replaceAll('\\"', '"')}${mend}`;
}
