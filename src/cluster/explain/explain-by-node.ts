import { podHistoryDirectory } from "../../config/node-agent-config.ts";
import type { NodeExplanation } from "../../explain/explain-node.ts";
import { explainPod } from "../../explain/explain-pod.ts";
import type { PodExplanation } from "../../explain/explanation.ts";
import { readHistory } from "../../history/read-history.ts";
import { linuxFiles } from "../../host/linux/files/linux-files.ts";
import { readFromNode } from "../status/node-report.ts";
import { decodeNodeExplanation, decodePodExplanation } from "./decode-explanation.ts";

interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** Asks the node agent of this machine. Rejects with `not-running` where none answers. */
export async function explainByNode(socketPath: string, { namespace, name }: PodName): Promise<PodExplanation> {
  const path = `/explain/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
  return decodePodExplanation(await readFromNode(socketPath, path));
}

/** Asks the node agent of this machine about itself. Rejects with `not-running` where none answers. */
export async function explainNodeItself(socketPath: string): Promise<NodeExplanation> {
  return decodeNodeExplanation(await readFromNode(socketPath, "/explain"));
}

/** Explains a pod by what the node agent left on the disk, while none runs. */
export async function explainByFiles(rootDirectory: string, asked: PodName): Promise<PodExplanation> {
  const { records, unread } = await readHistory(linuxFiles, podHistoryDirectory(rootDirectory), asked);
  const gaps = [`no node agent runs: this is what the one of ${rootDirectory} has left on the disk`, ...unread];
  return explainPod({ ...asked, pod: undefined, records, gaps });
}
