import { resolve } from "node:path";
import { isRecord } from "../api/object.ts";
import type { ExecClusterInfo, ExecPlugin } from "./connection.ts";
import type { Fields } from "./kubeconfig-fields.ts";

/** A cluster's extension of this name is what `provideClusterInfo` adds as `config`. */
const EXEC_EXTENSION = "client.authentication.k8s.io/exec";
const V1 = "client.authentication.k8s.io/v1";
const V1BETA1 = "client.authentication.k8s.io/v1beta1";

interface ExecSurroundings {
  /** The directory of the kubeconfig, from which relative commands start. */
  readonly directory: string;
  readonly cluster: Fields;
  readonly clusterInfo: Omit<ExecClusterInfo, "config">;
}

/** `users[].user.exec`, by the rules of `client-go/tools/clientcmd/validation.go`. */
export function readExecPlugin(exec: Fields, { directory, cluster, clusterInfo }: ExecSurroundings): ExecPlugin {
  const apiVersion = readVersion(exec);
  const command = exec.text("command");
  if (command === "")
    throw exec.invalid("command", "missing: command must be specified to use exec authentication plugin");
  checkInteractiveMode(exec, apiVersion);
  const env = exec.list("env").map((entry) => ({ name: entry.text("name"), value: entry.text("value") }));
  if (env.some(({ name }) => name === "")) {
    throw exec.invalid("env", "env variable name must be specified to use exec authentication plugin");
  }
  const wantsCluster = exec.flag("provideClusterInfo");
  return {
    apiVersion,
    // A name without a slash is looked up in PATH.
    command: command.includes("/") ? resolve(directory, command) : command,
    args: exec.texts("args"),
    env,
    installHint: exec.text("installHint"),
    clusterInfo: wantsCluster ? { ...clusterInfo, config: readExtension(cluster) } : undefined,
  };
}

function readVersion(exec: Fields): ExecPlugin["apiVersion"] {
  const version = exec.text("apiVersion");
  if (version === V1 || version === V1BETA1) return version;
  throw exec.invalid("apiVersion", `exec plugin: invalid apiVersion: must be ${V1} or ${V1BETA1}`);
}

/** A node agent has no terminal, so that a plugin that must ask a person cannot work. */
function checkInteractiveMode(exec: Fields, apiVersion: ExecPlugin["apiVersion"]): void {
  const mode = exec.text("interactiveMode") || (apiVersion === V1BETA1 ? "IfAvailable" : "");
  if (mode === "Never" || mode === "IfAvailable") return;
  if (mode === "Always") {
    const problem = "exec plugin cannot support interactive mode: standard input is not a terminal; use Never";
    throw exec.invalid("interactiveMode", problem);
  }
  throw exec.invalid("interactiveMode", "must be specified as Never, IfAvailable or Always");
}

function readExtension(cluster: Fields): unknown {
  for (const entry of cluster.list("extensions")) {
    const extension = entry.raw("extension");
    if (entry.text("name") === EXEC_EXTENSION && isRecord(extension)) return extension;
  }
  return undefined;
}
