import type { Target } from "../target.ts";

/** Loaded by name, so that a target's process holds, and counts the coverage of, what it needs and nothing else. */
const LOADERS: Readonly<Record<string, () => Promise<Target>>> = {
  yaml: async () => (await import("./yaml.ts")).yamlTarget,
  json: async () => (await import("./json.ts")).jsonTarget,
  manifests: async () => (await import("./manifests.ts")).manifestsTarget,
  protobuf: async () => (await import("./protobuf.ts")).protobufTarget,
  patches: async () => (await import("./patches.ts")).patchesTarget,
  selectors: async () => (await import("./selectors.ts")).selectorsTarget,
  expressions: async () => (await import("./expressions.ts")).expressionsTarget,
  "custom-schemas": async () => (await import("./custom-schemas.ts")).customSchemasTarget,
  "kubelet-configuration": async () => (await import("./kubelet-configuration.ts")).kubeletConfigurationTarget,
  kubeconfig: async () => (await import("./kubeconfig.ts")).kubeconfigTarget,
  "log-lines": async () => (await import("./log-lines.ts")).logLinesTarget,
  "watch-events": async () => (await import("./watch-events.ts")).watchEventsTarget,
  scalars: async () => (await import("./scalars.ts")).scalarsTarget,
  spdy: async () => (await import("./spdy.ts")).spdyTarget,
  "web-sockets": async () => (await import("./web-sockets.ts")).webSocketsTarget,
  journal: async () => (await import("./journal.ts")).journalTarget,
  certificates: async () => (await import("./certificates.ts")).certificatesTarget,
  cri: async () => (await import("./cri.ts")).criTarget,
  plugins: async () => (await import("./plugins.ts")).pluginsTarget,
  "api-writes": async () => (await import("./api-writes.ts")).apiWritesTarget,
  "api-reads": async () => (await import("./api-reads.ts")).apiReadsTarget,
  crds: async () => (await import("./crds.ts")).crdsTarget,
  http1: async () => (await import("./http1.ts")).http1Target,
  http2: async () => (await import("./http2.ts")).http2Target,
  dns: async () => (await import("./dns.ts")).dnsTarget,
  "node-api": async () => (await import("./node-api.ts")).nodeApiTarget,
};

export const TARGET_NAMES: readonly string[] = Object.keys(LOADERS);

/** By its name, or by the URL of a module that exports it as `target`. Throws for a name that no target has. */
export async function loadTarget(name: string): Promise<Target> {
  if (name.startsWith("file:")) return (await import(name)).target;
  const load = LOADERS[name];
  if (load === undefined) throw new Error(`there is no target ${name}`);
  return await load();
}
