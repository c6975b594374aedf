import type { PodSpec } from "../../../api/gen/types.ts";
import { MAX_SCORE, type ScoreNodes } from "./node-score.ts";

const MEBIBYTE = 1024 * 1024;
/** Less than this is not worth a choice, and more of it for each container is no better. */
const LEAST_BYTES = 23 * MEBIBYTE;
const MOST_BYTES_A_CONTAINER = 1000 * MEBIBYTE;

/**
 * The more of the pod's images a node has, the better (`plugins/imagelocality`). An image that few nodes have counts
 * less, so that its pods do not all go to them.
 */
export const scoreImages: ScoreNodes = ({ spec }, nodes, { nodes: all }) => {
  const images = imagesOf(spec).map((image) => {
    return { image, share: all.filter((node) => node.images.has(image)).length / all.length };
  });
  if (images.every(({ share }) => share === 0)) return undefined;
  const { containers, initContainers = [] } = spec;
  const most = MOST_BYTES_A_CONTAINER * (containers.length + initContainers.length);
  return nodes.map((node) => {
    const bytes = images.reduce((sum, { image, share }) => sum + Math.trunc((node.images.get(image) ?? 0) * share), 0);
    const counted = Math.min(most, Math.max(LEAST_BYTES, bytes));
    return Math.trunc((MAX_SCORE * (counted - LEAST_BYTES)) / (most - LEAST_BYTES));
  });
};

function imagesOf({ containers, initContainers = [], volumes = [] }: PodSpec): string[] {
  const ofContainers = [...initContainers, ...containers].map(({ image = "" }) => image);
  const mounted = volumes.flatMap(({ image }) => (image === undefined ? [] : [image.reference ?? ""]));
  return [...ofContainers, ...mounted].map(withTag);
}

/** The name as nodes tell it: with a tag, if only the one that is meant where there is none. */
function withTag(image: string): string {
  return image.lastIndexOf(":") <= image.lastIndexOf("/") ? `${image}:latest` : image;
}
