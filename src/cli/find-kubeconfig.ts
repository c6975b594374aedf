import { homedir } from "node:os";
import { delimiter, join } from "node:path";

type Environment = Readonly<Record<string, string | undefined>>;

/** Finds the cluster as kubectl does: `--kubeconfig`, `$KUBECONFIG` (its first file), `~/.kube/config`. */
export function findKubeconfig(given: string | undefined, environment: Environment): string {
  return given ?? namedKubeconfig(environment) ?? join(homedir(), ".kube", "config");
}

/** The first file of `$KUBECONFIG`; undefined where it names none. */
export function namedKubeconfig(environment: Environment): string | undefined {
  return environment["KUBECONFIG"]?.split(delimiter).find((path) => path !== "");
}
