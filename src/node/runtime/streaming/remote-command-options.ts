/** The streams of a process that a client wants to hold. */
interface RemoteCommandOptions {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/**
 * Returns the streams that a request names, or why it cannot be served, in upstream's words (`NewOptions` of
 * k8s.io/cri-streaming, remotecommand/httpstream.go). A terminal has no stderr of its own, so a request for both drops
 * stderr silently.
 */
export function parseRemoteCommandOptions(query: URLSearchParams): RemoteCommandOptions | string {
  const has = (name: string) => query.get(name) === "1";
  const tty = has("tty");
  const options = { stdin: has("input"), stdout: has("output"), stderr: has("error") && !tty, tty };
  if (options.stdin || options.stdout || options.stderr) return options;
  return "you must specify at least 1 of stdin, stdout, stderr";
}
