import { CodedError } from "../base/errors.ts";

/** The address of a server: `unix:///run/containerd/containerd.sock`. */
export interface Endpoint {
  /** The normalised form, as messages name it. */
  url: string;
  /** Absolute path of the socket. */
  path: string;
  /** A problem of the text that its author should mend; the endpoint works all the same. */
  warning: string | undefined;
}

/** The kernel's `sun_path` holds 108 bytes with the closing zero. */
const MAX_SOCKET_PATH_BYTES = 107;

/**
 * Reads an endpoint as kubelet does (`pkg/kubelet/util/util_unix.go`): a `unix:` URL, or a bare path, which is
 * deprecated. Throws CodedError `invalid-endpoint`, saying what to write instead.
 */
export function parseEndpoint(text: string): Endpoint {
  const { path, warning } = readPath(text.trim());
  if (!path.startsWith("/")) throw invalid(text, "the socket's path must be absolute, as in unix:///run/x.sock");
  if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) {
    throw invalid(text, `the socket's path is longer than the ${MAX_SOCKET_PATH_BYTES} bytes that the kernel allows`);
  }
  return { url: `unix://${path}`, path, warning };
}

function readPath(text: string): { path: string; warning: string | undefined } {
  if (text === "") throw invalid(text, "it is empty");
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    return { path: text, warning: `the endpoint "${text}" has no scheme, which is deprecated: write "unix://${text}"` };
  }
  if (scheme !== "unix") throw invalid(text, `the scheme "${scheme}" is not supported, only unix sockets are`);
  const rest = text.slice("unix:".length);
  if (!rest.startsWith("//")) return { path: rest, warning: undefined };
  const path = rest.slice(2);
  if (!path.startsWith("/")) throw invalid(text, `it needs three slashes: write "unix:///${path}"`);
  return { path, warning: undefined };
}

function invalid(text: string, why: string): CodedError<"invalid-endpoint"> {
  return new CodedError("invalid-endpoint", `invalid endpoint "${text}": ${why}`);
}
