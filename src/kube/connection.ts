/**
 * How to reach an API server, and as whom: the content of a kubeconfig as values. Files that it names are read when they
 * are needed, and again when they change.
 */
export interface KubeConnection {
  /** Where this comes from, for messages: the kubeconfig's path. */
  readonly source: string;
  /** `https://10.0.0.1:6443`, perhaps with a path beneath which the API is. */
  readonly server: string;
  /** The context's namespace; "" where it has none. */
  readonly namespace: string;
  /** Undefined: the system's authorities. */
  readonly authority?: PemSource | undefined;
  /** True: the server's certificate is not checked. */
  readonly insecureSkipTlsVerify?: boolean | undefined;
  /** The name that the server's certificate must have. Default: the host of `server`. */
  readonly tlsServerName?: string | undefined;
  /** `http://` or `https://`. Default: the proxy of HTTPS_PROXY and NO_PROXY. */
  readonly proxyUrl?: string | undefined;
  readonly user: KubeUser;
}

/** A certificate or a key. */
export type PemSource =
  | { readonly kind: "inline"; readonly pem: string }
  | { readonly kind: "file"; readonly path: string };

/** The credentials of a client; none at all is the anonymous user. */
export interface KubeUser {
  readonly clientCertificate?: { readonly certificate: PemSource; readonly key: PemSource } | undefined;
  readonly token?: string | undefined;
  /** Read about every minute and after a 401; its content counts before `token`. */
  readonly tokenFile?: string | undefined;
  readonly basic?: { readonly username: string; readonly password: string } | undefined;
  readonly exec?: ExecPlugin | undefined;
}

/** A program that prints credentials, as `client.authentication.k8s.io` describes it. */
export interface ExecPlugin {
  readonly apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  /** Absolute, or a name that is looked up in PATH. */
  readonly command: string;
  readonly args: readonly string[];
  readonly env: ReadonlyArray<{ readonly name: string; readonly value: string }>;
  /** The advice for a person where the program is not there. */
  readonly installHint: string;
  /** Handed to the plugin where it asks to be told of the cluster; undefined where it does not. */
  readonly clusterInfo: ExecClusterInfo | undefined;
}

/** `spec.cluster` of an ExecCredential, but for the authority, which may be a file. */
export interface ExecClusterInfo {
  readonly server: string;
  readonly tlsServerName: string | undefined;
  readonly insecureSkipTlsVerify: boolean;
  readonly authority: PemSource | undefined;
  readonly proxyUrl: string | undefined;
  /** From the cluster's extension `client.authentication.k8s.io/exec`. */
  readonly config: unknown;
}

/** How the files that a connection names are read. `Files` of the host is one. */
export interface ConnectionFiles {
  /** Rejects with an error that has Node.js's code (`ENOENT`, …), and with `EFBIG` for a longer file. */
  read(path: string, maxBytes: number): Promise<Buffer>;
}
