/** The content of a kubeconfig: a cluster and one user of it. */
interface KubeconfigNames {
  /** `https://127.0.0.1:6443`. */
  readonly server: string;
  /** The names under which the three parts stand in the file. */
  readonly user: string;
  readonly cluster: string;
  readonly context: string;
}

interface KubeconfigFacts extends KubeconfigNames {
  readonly caPem: string;
  readonly certificatePem: string;
  readonly keyPem: string;
}

interface KubeconfigPaths extends KubeconfigNames {
  readonly caPath: string;
  /** The file of the certificate and its key, which are read anew when it changes. */
  readonly pairPath: string;
}

/** The text of a kubeconfig with everything embedded. It holds a private key: write it with mode 0600. */
export function formatKubeconfig({ caPem, certificatePem, keyPem, ...names }: KubeconfigFacts): string {
  const base64 = (pem: string) => Buffer.from(pem).toString("base64");
  return format(names, {
    authority: `certificate-authority-data: ${base64(caPem)}`,
    certificate: `client-certificate-data: ${base64(certificatePem)}`,
    key: `client-key-data: ${base64(keyPem)}`,
  });
}

/**
 * The text of a kubeconfig that names its files. It stays the same when they change. Paths that are not absolute are
 * taken from the directory of the kubeconfig.
 */
export function formatLinkedKubeconfig({ caPath, pairPath, ...names }: KubeconfigPaths): string {
  return format(names, {
    authority: `certificate-authority: ${quote(caPath)}`,
    certificate: `client-certificate: ${quote(pairPath)}`,
    key: `client-key: ${quote(pairPath)}`,
  });
}

/**
 * The text of a kubeconfig that says only where a cluster is and how to trust it. It has no user and no secret, and whoever
 * has it may show it to everybody.
 */
export function formatClusterKubeconfig({ server, caPem }: Pick<KubeconfigFacts, "server" | "caPem">): string {
  return `apiVersion: v1
kind: Config
clusters:
- cluster:
    certificate-authority-data: ${Buffer.from(caPem).toString("base64")}
    server: ${quote(server)}
  name: ""
contexts: []
current-context: ""
preferences: {}
users: []
`;
}

/** JSON is YAML: quoted, no name can be taken for something else. */
const quote = (value: string) => JSON.stringify(value);

function format(
  { server, user, cluster, context }: KubeconfigNames,
  lines: { readonly authority: string; readonly certificate: string; readonly key: string },
): string {
  return `apiVersion: v1
kind: Config
clusters:
- cluster:
    ${lines.authority}
    server: ${quote(server)}
  name: ${quote(cluster)}
contexts:
- context:
    cluster: ${quote(cluster)}
    user: ${quote(user)}
  name: ${quote(context)}
current-context: ${quote(context)}
preferences: {}
users:
- name: ${quote(user)}
  user:
    ${lines.certificate}
    ${lines.key}
`;
}
