import { describe, expect, it } from "vitest";
import { ImageSpec } from "../../src/cri/gen/cri-v1.ts";
import { CriError } from "../../src/cri/port.ts";
import type { Driver } from "./cri-driver.ts";

/** Images on the node; nothing is pulled from anywhere. */
export function describeImages(current: () => Driver): void {
  describe("images", () => {
    const read = async (ref: string) => {
      const request = { image: ImageSpec.fromPartial({ image: ref }), verbose: false };
      return (await current().runtime.cri.images.imageStatus(request)).image;
    };

    it("are found by reference and by id, and listed", async () => {
      const { cri, image } = current().runtime;
      const found = await read(image);
      expect(found?.repoTags).toEqual([image]);
      expect(found?.id).toMatch(/^(sha256:)?[0-9a-f]{64}$/);
      expect((await read(found?.id ?? ""))?.repoTags).toEqual([image]);
      const { images } = await cri.images.listImages({ filter: undefined });
      expect(images.flatMap(({ repoTags }) => repoTags)).toContain(image);
    });

    it("that are not there have no status, which is no error", async () => {
      expect(await read("localhost/none:1")).toBeUndefined();
    });

    it("that are not there may be removed", async () => {
      const image = ImageSpec.fromPartial({ image: "localhost/none:1" });
      await current().runtime.cri.images.removeImage({ image });
    });

    it("that nobody has cannot be pulled", async () => {
      const { cri, settled } = current().runtime;
      const image = ImageSpec.fromPartial({ image: "localhost/none:1" });
      const pull = settled(cri.images.pullImage({ image, auth: undefined, sandboxConfig: undefined }));
      await expect(pull).rejects.toBeInstanceOf(CriError);
    });
  });
}
