import type { Part } from "../../base/run-parts.ts";
import { createPodFeed } from "../view/pods-api/pod-feed.ts";
import { createPodsApiPart, declarePodsApiMetrics } from "../view/pods-api/serve-pods.ts";
import type { Foundation } from "./foundation.ts";
import type { SourceParts } from "./sources.ts";

/** The API by which agents on the node read and watch its pods, behind its gate. */
export function composePodsApi({ ports, config, statuses }: Foundation, { desired, updates }: SourceParts): Part[] {
  const { host, log, metrics, plugins } = ports;
  const { clock, files } = host;
  const onDrop = declarePodsApiMetrics(metrics);
  if (!config.featureGates["PodsAPI"]) return [];
  const pods = createPodFeed({ desired, updates, statuses, onDrop });
  return [createPodsApiPart({ clock, files, log, serve: plugins.serve, pods }, `${config.rootDirectory}/pods-api`)];
}
