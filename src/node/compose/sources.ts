import type { PodSource } from "../../api/pods.ts";
import type { Part } from "../../base/run-parts.ts";
import { createDesiredPods, type DesiredPods } from "../pods/desired/desired-pods.ts";
import { followUpdates, type PodUpdates } from "../pods/desired/follow-updates.ts";
import { recordUpdates } from "../pods/desired/record-updates.ts";
import { createApiSource } from "../pods/sources/api-source.ts";
import { createFileSource, type FileSource } from "../pods/sources/file-source.ts";
import { createHttpSource } from "../pods/sources/http-source.ts";
import type { PodSourceLoop } from "../pods/sources/source-snapshot.ts";
import type { ClusterParts } from "./cluster.ts";
import type { Foundation } from "./foundation.ts";
import type { PodData } from "./pod-data.ts";

/** The sources that the configuration names, and what they want together. */
export interface SourceParts {
  readonly desired: DesiredPods;
  readonly updates: PodUpdates;
  /** What is wrong with the files that pods come from. */
  manifestProblems(): ReturnType<FileSource["problems"]>;
  readonly parts: readonly Part[];
}

interface NamedSource {
  readonly name: PodSource;
  readonly loop: PodSourceLoop;
}

interface SourceNeighbours {
  readonly cluster: ClusterParts | undefined;
  readonly data: Pick<PodData, "manifests">;
}

/** Warns in the log where no source is configured. */
export function composeSources(foundation: Foundation, { cluster, data }: SourceNeighbours): SourceParts {
  const { ports, timeline } = foundation;
  const { host, log } = ports;
  const files = composeFileSource(foundation, data);
  const sources: NamedSource[] = [...files, ...composeHttpSource(foundation), ...composeApiSource(foundation, cluster)];
  if (sources.length === 0)
    log.warn("No source of pods is configured, nothing will be run: set --kubeconfig or --pod-manifest-path");
  const names = sources.map(({ name }) => name);
  const desired = createDesiredPods({ clock: host.clock, log, timeline }, { sources: names });
  return {
    ...followUpdates(recordUpdates(desired, timeline)),
    manifestProblems: () => files.flatMap(({ loop }) => loop.problems()),
    parts: sources.map(({ loop }) => ({ name: "pod source", run: loop.run })),
  };
}

function composeFileSource(
  { ports, config, inbox }: Foundation,
  { manifests }: SourceNeighbours["data"],
): Array<{ readonly name: PodSource; readonly loop: FileSource }> {
  const { host, log } = ports;
  const { clock, files } = host;
  const { nodeName, kubelet, staticPodPath: path, refusesForeignManifests: refusesForeign } = config;
  if (path === undefined) return [];
  const { fileCheckFrequency: checkFrequencyMs } = kubelet;
  const options = { path, nodeName, refusesForeign, ignoresOtherKinds: config.ignoresOtherKinds, checkFrequencyMs };
  const deps = { clock, files, log, emit: inbox.offerSnapshot, objects: manifests };
  return [{ name: "file", loop: createFileSource(deps, options) }];
}

function composeHttpSource({ ports, config, inbox }: Foundation): NamedSource[] {
  const { host, log } = ports;
  const { clock, http } = host;
  const { nodeName, kubelet, manifestUrl: url, manifestUrlHeaders: headers } = config;
  if (url === undefined) return [];
  const options = { url, headers, nodeName, checkFrequencyMs: kubelet.httpCheckFrequency };
  return [{ name: "http", loop: createHttpSource({ clock, http, log, emit: inbox.offerSnapshot }, options) }];
}

function composeApiSource({ ports, config, inbox }: Foundation, cluster: ClusterParts | undefined): NamedSource[] {
  if (cluster === undefined) return [];
  const { host, log } = ports;
  const { clock, random } = host;
  const { kube, ownNode } = cluster;
  const deps = { client: kube.client, clock, random, log, emit: inbox.offerSnapshot };
  const nodeReady = async (signal: AbortSignal) => {
    await ownNode.nodeReady(signal);
  };
  return [{ name: "api", loop: createApiSource({ ...deps, nodeReady }, config) }];
}
