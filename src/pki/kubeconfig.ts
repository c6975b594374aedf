/** The content of a kubeconfig: a cluster and one user of it. */
interface KubeconfigFacts {
  /** `https://127.0.0.1:6443`. */
  readonly server: string;
  readonly caPem: string;
  readonly certificatePem: string;
  readonly keyPem: string;
  /** The names under which the three parts stand in the file. */
  readonly user: string;
  readonly cluster: string;
  readonly context: string;
}

/** The text of a kubeconfig with everything embedded. It holds a private key: write it with mode 0600. */
export function formatKubeconfig(facts: KubeconfigFacts): string {
  const base64 = (pem: string) => Buffer.from(pem).toString("base64");
  // JSON is YAML: quoted, no name can be taken for something else.
  const text = (value: string) => JSON.stringify(value);
  return `apiVersion: v1
kind: Config
clusters:
- cluster:
    certificate-authority-data: ${base64(facts.caPem)}
    server: ${text(facts.server)}
  name: ${text(facts.cluster)}
contexts:
- context:
    cluster: ${text(facts.cluster)}
    user: ${text(facts.user)}
  name: ${text(facts.context)}
current-context: ${text(facts.context)}
preferences: {}
users:
- name: ${text(facts.user)}
  user:
    client-certificate-data: ${base64(facts.certificatePem)}
    client-key-data: ${base64(facts.keyPem)}
`;
}
