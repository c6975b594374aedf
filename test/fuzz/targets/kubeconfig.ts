import { CodedError } from "../../../src/base/errors.ts";
import { readKubeconfig } from "../../../src/kube/kubeconfig.ts";
import { promise, type Target } from "../target.ts";
import { YAML_WORDS } from "./words.ts";

const SEED = `apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: c, user: u, namespace: n}}]
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443/x", certificate-authority-data: QQ==, proxy-url: "socks5://a:1"}}]
users: [{name: u, user: {client-certificate-data: QQ==, client-key: k.pem}}]
`;
const EXEC = `apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "https://[::1]:6443", insecure-skip-tls-verify: true, tls-server-name: x}}]
users:
- name: u
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: ./a, args: [b], interactiveMode: Never, provideClusterInfo: true}
`;

/** Kubeconfigs: read, or refused with words that name the file. */
export const kubeconfigTarget: Target = {
  name: "kubeconfig",
  runs: 448,
  seeds: [SEED, EXEC],
  words: [
    "server: ",
    "token: t",
    "tokenFile: t",
    "username: a",
    "exec: ",
    "contexts: ",
    "https://",
    "::1",
    ...YAML_WORDS,
  ],
  maxBytes: 4 * 1024,
  setUp: async () => ({
    async run(input) {
      try {
        await readKubeconfig("/etc/kubernetes/kubelet.conf", { read: async () => input });
      } catch (error) {
        if (!(error instanceof CodedError)) throw error;
        promise(error.message.includes("/etc/kubernetes/kubelet.conf"), `no file in: ${error.message}`);
      }
    },
  }),
};
