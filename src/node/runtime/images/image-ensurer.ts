import type { Container, Pod } from "../../../api/gen/types.ts";
import { podReference } from "../../../api/pods.ts";
import { messageOf } from "../../../base/errors.ts";
import type { Metrics } from "../../../base/metrics.ts";
import type { Cri } from "../../../cri/port.ts";
import { type CredentialDeps, findCredentials } from "./find-credentials.ts";
import type { ImageClaims } from "./image-claims.ts";
import type { ImageFailure, ImageOutcome, PresentImage } from "./image-outcome.ts";
import { createImagePuller, type ImagePullerDeps, type PullLimits } from "./image-puller.ts";
import type { PullCredentials } from "./pull-credentials.ts";
import type { PullRecords } from "./pull-records.ts";
import { type ImageOnMachine, readImage } from "./read-image.ts";

/** Makes sure that the runtime has a container's image, by its pull policy, and that the pod may use it. */
export interface ImageEnsurer {
  ensureImage(pod: Pod, container: Container, signal: AbortSignal): Promise<ImageOutcome>;
}

export interface ImageEnsurerDeps extends CredentialDeps, Pick<ImagePullerDeps, "clock" | "progress"> {
  readonly images: Cri["images"];
  readonly metrics: Metrics;
  /** Undefined: every pod may use what is on the machine. */
  readonly records: Pick<PullRecords, "mustPull" | "recordPull"> | undefined;
  /** Keeps what is about to be used from being removed. */
  readonly claims: Pick<ImageClaims, "claim" | "duringPull">;
}

/** What became of a request before any pull; `isPresent` and `mustPull` as metrics tell them, where they are known. */
interface Precheck {
  readonly outcome: ImageOutcome | undefined;
  readonly isPresent?: boolean;
  readonly mustPull?: boolean;
}

/** Follows EnsureImageExists of pkg/kubelet/images/image_manager.go. */
export function createImageEnsurer(deps: ImageEnsurerDeps, options: PullLimits): ImageEnsurer {
  const { images, timeline, clock, records } = deps;
  const { metrics, claims, progress } = deps;
  const pullerDeps = { images, clock, timeline, metrics, recordPull: records?.recordPull, claims, progress };
  const puller = createImagePuller(pullerDeps, options);
  const count = countRequests(deps.metrics);

  const check = async (
    {
      pod,
      container,
      credentials,
    }: { pod: Pod; container: Container; credentials: () => Promise<readonly PullCredentials[]> },
    signal: AbortSignal,
  ): Promise<Precheck> => {
    const { image = "", imagePullPolicy: policy } = container;
    const say = (type: "Normal" | "Warning", reason: string, message: string) =>
      timeline.record(podReference(pod), { type, reason, message, container: container.name });
    if (!isImageName(image)) {
      const message = `Failed to apply default image tag "${image}": couldn't parse image name: invalid reference format`;
      say("Warning", "InspectFailed", message);
      return { outcome: { reason: "InvalidImageName", message } };
    }
    if (policy === "Always") return { outcome: undefined, mustPull: true };
    const found = await findImage(deps, image, signal);
    if (found !== undefined && "reason" in found) {
      say("Warning", "InspectFailed", found.message);
      return { outcome: found };
    }
    const isPresent = found !== undefined;
    const mustPull =
      found === undefined ||
      (await records?.mustPull({ image, imageRef: found.imageRef }, credentials, signal)) === true;
    if (found !== undefined && !mustPull) {
      const byRight = records === undefined ? "" : " and can be accessed by the pod";
      say("Normal", "Pulled", `Container image "${image}" already present on machine${byRight}`);
      return { outcome: presentImage(found), isPresent, mustPull };
    }
    if (policy !== "Never") return { outcome: undefined, isPresent, mustPull };
    // The same whether it is absent or not for this pod: a tenant does not learn what others have pulled.
    const message = `Container image "${image}" is not present with pull policy of Never`;
    say("Warning", "ErrImageNeverPull", message);
    return { outcome: { reason: "ErrImageNeverPull", message }, isPresent, ...(isPresent && { mustPull }) };
  };

  return {
    async ensureImage(pod, container, signal) {
      let found: Promise<readonly PullCredentials[]> | undefined;
      // Once, and no earlier than needed: a plugin may have to run for them.
      const credentials = async () => {
        found ??= findCredentials(deps, pod, container.image ?? "", signal);
        return await found;
      };
      let checked: Precheck = { outcome: undefined };
      try {
        checked = await check({ pod, container, credentials }, signal);
      } finally {
        count(container.imagePullPolicy ?? "IfNotPresent", checked);
      }
      return checked.outcome ?? (await puller.pull({ pod, container, credentials }, signal));
    },
  };
}

async function findImage(
  { images, claims }: Pick<ImageEnsurerDeps, "images" | "claims">,
  image: string,
  signal: AbortSignal,
): Promise<ImageOnMachine | ImageFailure | undefined> {
  try {
    for (;;) {
      const found = await readImage(images, image, signal);
      // One that was just being removed is looked for again, and then it is gone or stays.
      if (found === undefined || (await claims.claim(found.imageRef, signal))) return found;
    }
  } catch (error) {
    if (signal.aborted) throw error;
    return { reason: "ImageInspectError", message: `Failed to inspect image "${image}": ${messageOf(error)}` };
  }
}

function presentImage({ imageRef, user }: ImageOnMachine): PresentImage {
  return { imageRef, user };
}

/** The distribution project's grammar of references, loosely: what no registry could ever serve is told apart at once. */
function isImageName(image: string): boolean {
  return /^[A-Za-z0-9][\w.:[\]-]*(\/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[\w][\w.-]{0,127})?(@[a-z0-9]+(?:[.+_-][a-z0-9]+)*:[0-9a-f]{32,})?$/.test(
    image,
  );
}

function countRequests(metrics: Metrics): (policy: string, checked: Precheck) => void {
  const requests = metrics.counter(
    "kubelet_image_manager_ensure_image_requests_total",
    "Number of ensure-image requests processed by the kubelet.",
    ["pull_policy", "present_locally", "pull_required"],
  );
  return (policy, { isPresent, mustPull }) =>
    requests.add({
      pull_policy: policy.toLowerCase(),
      present_locally: String(isPresent ?? "unknown"),
      pull_required: String(mustPull ?? "unknown"),
    });
}
