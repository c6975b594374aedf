import type { PodSource } from "../../api/pods.ts";
import type { Log } from "../../base/log.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { Host } from "../../host/port.ts";
import { createFileSource } from "../pods/sources/file-source.ts";
import { createHttpSource } from "../pods/sources/http-source.ts";
import type { PodSourceLoop, SnapshotListener } from "../pods/sources/source-snapshot.ts";

/** The sources that the configuration names. */
export function composeSources(
  deps: {
    host: Host;
    log: Log;
    emit: SnapshotListener;
    /** Undefined where there is no API server. */
    apiSource: ((emit: SnapshotListener) => PodSourceLoop) | undefined;
  },
  config: NodeAgentConfig,
): { sources: PodSourceLoop[]; names: PodSource[] } {
  const { host, log, emit } = deps;
  const { clock, files, http } = host;
  const { nodeName, kubelet, staticPodPath, manifestUrl, manifestUrlHeaders } = config;
  const sources: PodSourceLoop[] = [];
  const names: PodSource[] = [];
  if (staticPodPath !== undefined) {
    const options = { path: staticPodPath, nodeName, checkFrequencyMs: kubelet.fileCheckFrequency };
    sources.push(createFileSource({ clock, files, log, emit }, options));
    names.push("file");
  }
  if (manifestUrl !== undefined) {
    const options = {
      url: manifestUrl,
      headers: manifestUrlHeaders,
      nodeName,
      checkFrequencyMs: kubelet.httpCheckFrequency,
    };
    sources.push(createHttpSource({ clock, http, log, emit }, options));
    names.push("http");
  }
  if (deps.apiSource !== undefined) {
    sources.push(deps.apiSource(emit));
    names.push("api");
  }
  if (sources.length === 0)
    log.warn("No source of pods is configured, nothing will be run: set --kubeconfig or --pod-manifest-path");
  return { sources, names };
}
