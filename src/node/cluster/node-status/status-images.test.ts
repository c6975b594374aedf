import { expect, it } from "vitest";
import { computeStatusImages } from "./status-images.ts";

const image = (id: string, size: bigint, repoTags: string[] = [], repoDigests: string[] = []) => ({
  id,
  size,
  repoTags,
  repoDigests,
});

it("names the largest first, and of equal ones that with the larger id", () => {
  const images = [image("a", 1n, ["a"]), image("b", 3n, ["b"]), image("c", 1n, ["c"])];
  expect(computeStatusImages(images, -1).map(({ names }) => names)).toEqual([["b"], ["c"], ["a"]]);
  expect(computeStatusImages(images, 1)).toEqual([{ names: ["b"], sizeBytes: 3 }]);
  expect(computeStatusImages(images, 0)).toEqual([]);
});

it("gives each five names at most, digests first", () => {
  const [found] = computeStatusImages([image("a", 1n, ["t1", "t2", "t3"], ["d1", "d2", "d3"])], 50);
  expect(found?.names).toEqual(["d1", "d2", "d3", "t1", "t2"]);
});

it("has no names for an image without any", () => {
  expect(computeStatusImages([image("a", 7n)], 50)).toEqual([{ sizeBytes: 7 }]);
});
