import type { ImageService } from "../../cri/port.ts";
import type { Files } from "../../host/port.ts";

/** Whether the runtime keeps images or containers on another disk than that of the pods' directories. */
export interface DedicatedImageFs {
  /** Asked until it is known, and then never again. Rejects while the runtime or its disk cannot be asked. */
  read(signal: AbortSignal): Promise<boolean>;
}

export interface DedicatedImageFsDeps {
  readonly images: Pick<ImageService, "imageFsInfo">;
  readonly files: Pick<Files, "stat">;
}

const TIMEOUT_MS = 10_000;

/** Upstream's `HasDedicatedImageFs` (pkg/kubelet/stats/provider.go). */
export function createDedicatedImageFs(
  { images, files }: DedicatedImageFsDeps,
  { rootDirectory }: { readonly rootDirectory: string },
): DedicatedImageFs {
  let known: boolean | undefined;

  const deviceOf = async (path: string): Promise<string> => {
    const status = await files.stat(path);
    if (status === undefined) throw new Error(`${path} is not there`);
    return status.device;
  };

  return {
    async read(signal) {
      if (known !== undefined) return known;
      const info = await images.imageFsInfo({}, { signal, timeoutMs: TIMEOUT_MS });
      const used = [info.imageFilesystems[0], info.containerFilesystems[0]];
      const paths = used.flatMap((filesystem) => filesystem?.fsId?.mountpoint || []);
      if (paths.length === 0) throw new Error("imagefs device is not found");
      const devices = await Promise.all([rootDirectory, ...paths].map(deviceOf));
      known = new Set(devices).size > 1;
      return known;
    },
  };
}
