import { sleep } from "../../base/abort.ts";
import type { Clock } from "../../base/clock.ts";
import type { Image as CriImage } from "../gen/cri-v1.ts";
import { Image } from "../gen/cri-v1.ts";
import type { CriErrorCode, ImageService } from "../port.ts";
import { computeId, type Handlers, nanoseconds, refusal } from "./fake-answers.ts";

/** An image, on the node or in a registry. */
export interface FakeImage {
  /** `busybox`, `localhost/nodelet/demo:1`, …; it is normalised as containerd does. */
  ref: string;
  /** The command that runs where the container's config names none. */
  entrypoint?: readonly string[];
  cmd?: readonly string[];
  sizeBytes?: number;
  /** The milliseconds that a pull takes. Default 0. */
  pullMs?: number;
  /** If it is set, every pull fails with it. */
  pullError?: { code: CriErrorCode; detail: string };
  /** The user that the image runs as: a number, or a name that cannot be checked. */
  user?: number | string;
}

export interface FakeImages {
  readonly handlers: Handlers<ImageService>;
  /** Finds an image by reference, digest or id. */
  find(ref: string): FakeImage | undefined;
  /** Puts the image on the node, pulled or not. */
  add(image: FakeImage): void;
}

export const DEFAULT_FAKE_IMAGE: FakeImage = { ref: "busybox", cmd: ["sh"], sizeBytes: 2_000_000 };

export function createFakeImages(
  clock: Clock,
  initial: { present: readonly FakeImage[]; registry: readonly FakeImage[] },
): FakeImages {
  const present = new Map<string, FakeImage>();
  const registry = new Map(initial.registry.map((image) => [normaliseImageRef(image.ref), image]));
  const add = (image: FakeImage) => present.set(normaliseImageRef(image.ref), image);
  for (const image of initial.present) add(image);

  const find = (ref: string) => {
    const byRef = present.get(normaliseImageRef(ref));
    return byRef ?? [...present.values()].find((image) => [imageIdOf(image), digestRefOf(image)].includes(ref));
  };
  const pull = async (ref: string, signal: AbortSignal) => {
    const image = registry.get(normaliseImageRef(ref)) ?? present.get(normaliseImageRef(ref));
    if (image === undefined) {
      const name = normaliseImageRef(ref);
      throw refusal(
        "not-found",
        `failed to pull and unpack image "${name}": failed to resolve reference "${name}": not found`,
      );
    }
    if (image.pullMs) await sleep(clock, image.pullMs, signal);
    if (image.pullError) throw refusal(image.pullError.code, image.pullError.detail);
    add(image);
    return image;
  };

  const handlers: Handlers<ImageService> = {
    listImages: ({ filter }) => {
      const wanted = filter?.image?.image;
      const images = [...present.values()].filter((image) => !wanted || find(wanted) === image);
      return { images: images.map(describeImage) };
    },
    imageStatus: ({ image }) => {
      const found = find(image?.image ?? "");
      return { image: found && describeImage(found), info: {} };
    },
    pullImage: async ({ image }, signal) => ({ imageRef: imageIdOf(await pull(image?.image ?? "", signal)) }),
    removeImage: ({ image }) => {
      const found = find(image?.image ?? "");
      if (found) present.delete(normaliseImageRef(found.ref));
      return {};
    },
    imageFsInfo: () => {
      const used = [...present.values()].reduce((sum, image) => sum + (image.sizeBytes ?? 0), 0);
      const usage = {
        timestamp: nanoseconds(clock.now()),
        fsId: { mountpoint: "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs" },
        usedBytes: { value: BigInt(used) },
        inodesUsed: { value: BigInt(present.size) },
      };
      return { imageFilesystems: [usage], containerFilesystems: [] };
    },
  };
  return { handlers, find, add };
}

function describeImage(image: FakeImage): CriImage {
  const user = typeof image.user === "number" ? { uid: { value: BigInt(image.user) } } : { username: image.user ?? "" };
  return Image.fromPartial({
    id: imageIdOf(image),
    repoTags: [normaliseImageRef(image.ref)],
    repoDigests: [digestRefOf(image)],
    size: BigInt(image.sizeBytes ?? 0),
    ...user,
  });
}

/** `sha256:…` of the configuration. */
export function imageIdOf(image: FakeImage): string {
  return `sha256:${computeId(`image ${normaliseImageRef(image.ref)}`)}`;
}

/** `docker.io/library/busybox@sha256:…`. */
export function digestRefOf(image: FakeImage): string {
  const name = normaliseImageRef(image.ref).replace(/[:@][^/]*$/, "");
  return `${name}@sha256:${computeId(`manifest ${normaliseImageRef(image.ref)}`)}`;
}

/** `busybox` is `docker.io/library/busybox:latest`. */
export function normaliseImageRef(ref: string): string {
  const [first = "", ...rest] = ref.split("/");
  const hasHost = rest.length > 0 && /[.:]|^localhost$/.test(first);
  const name = hasHost ? ref : rest.length > 0 ? `docker.io/${ref}` : `docker.io/library/${ref}`;
  return /[:@][^/]*$/.test(name) ? name : `${name}:latest`;
}
