import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { removeRuntime } from "../../src/cluster/containerd/remove-runtime.ts";
import { type Containerd, startContainerd } from "../../src/cluster/containerd/start-containerd.ts";
import { connectCri } from "../../src/cri/connect.ts";
import { connectContainerdContent } from "../../src/cri/containerd-content.ts";
import { ImageSpec } from "../../src/cri/gen/cri-v1.ts";
import { claimNetwork } from "../machine/claims.ts";
import { readWhyNoContainerd } from "./runtime-under-test.ts";
import { startSlowRegistry } from "./slow-registry.ts";

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64" };
const WAIT_MS = 60_000;

const whyNot = await readWhyNoContainerd();
if (whyNot) console.warn(`SKIPPED: containerd's content store: ${whyNot}`);

describe.skipIf(whyNot)("containerd's content store", () => {
  let directory = "";
  let containerd: Containerd;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "nodelet-content-"));
    const binary = process.env["NODELET_TEST_CONTAINERD"];
    const network = await claimNetwork();
    containerd = await startContainerd({ directory, log: silentLog, ...network, ...(binary ? { binary } : {}) });
  });
  afterAll(async () => {
    await containerd?.stop();
    await removeRuntime(directory);
  });

  it("tells of each layer how much has come and how much there is, until all has", async () => {
    const { endpoint } = containerd;
    const registry = await startSlowRegistry(ARCHITECTURES[process.arch] ?? process.arch);
    const cri = connectCri({ endpoint, log: silentLog, metrics: createMetrics() });
    const content = connectContainerdContent(endpoint);
    try {
      expect(await content.listDownloads({})).toEqual([]);
      const image = ImageSpec.fromPartial({ image: registry.image });
      const pulled = cri.images.pullImage({ image, auth: undefined, sandboxConfig: undefined });
      // The call ends with its connection where the test fails first.
      pulled.catch(() => undefined);
      const { digest, size } = registry.layer;
      await vi.waitFor(
        async () => {
          const [layer] = (await content.listDownloads({})).filter(({ ref }) => ref.includes(digest));
          expect(layer?.bytesTotal).toBe(size);
          // A runtime writes in large pieces, and the last one of the half may still be in its hands.
          expect(layer?.bytesDone).toBeGreaterThan(0);
          expect(layer?.bytesDone).toBeLessThanOrEqual(size / 2);
        },
        { timeout: WAIT_MS, interval: 50 },
      );
      registry.release();
      await pulled;
      expect(await content.listDownloads({})).toEqual([]);
    } finally {
      await registry.close();
      content.close();
      cri.close();
    }
  });
});
