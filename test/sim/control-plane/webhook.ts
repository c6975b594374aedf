import { isRecord, type KubeObject } from "../../../src/api/object.ts";
import { sleep } from "../../../src/base/abort.ts";
import type { Clock } from "../../../src/base/clock.ts";
import { CodedError } from "../../../src/base/errors.ts";
import { LOOPBACK_USER } from "../../../src/control-plane/ports/user.ts";
import type { PostAnswer, PostCall } from "../../../src/host/post-call.ts";
import type { Dice } from "../dice.ts";

/** How likely each fault is, for each question about a write of the control plane's own parts. */
interface WebhookRates {
  refused: number;
  slow: number;
  silent: number;
  garbled: number;
}

export const NO_WEBHOOK_FAULTS: WebhookRates = { refused: 0, slow: 0, silent: 0, garbled: 0 };

/** An admission webhook that is asked about every write of controllers, and stands in for all that can go wrong there. */
export interface Webhook {
  readonly post: PostCall;
  storm(rates: WebhookRates): void;
}

/** What controllers may be told of any write: conflicts, refusals, overload, nonsense. */
const ANSWERS = [
  { code: 409, reason: "Conflict" },
  { code: 409, reason: "Conflict" },
  { code: 403, reason: "Forbidden" },
  { code: 422, reason: "Invalid" },
  { code: 429, reason: "TooManyRequests" },
  { code: 500, reason: "InternalError" },
  { code: 503, reason: "ServiceUnavailable" },
] as const;
const TIMEOUT_SECONDS = 5;
const SLOW_MS = 4_000;

export function createWebhook(deps: { clock: Clock; dice: Dice; count(kind: string): void }): Webhook {
  const { clock, dice, count } = deps;
  let rates = NO_WEBHOOK_FAULTS;
  const roll = (rate: number) => rate > 0 && dice.chance(rate);
  const judge = async (isOwn: boolean, signal: AbortSignal): Promise<object> => {
    if (!isOwn) return { allowed: true };
    if (roll(rates.slow)) {
      count("webhook slow");
      await sleep(clock, dice.between(10, SLOW_MS), signal);
    }
    if (roll(rates.silent)) {
      count("webhook silent");
      await sleep(clock, 2 * TIMEOUT_SECONDS * 1000, signal);
    }
    if (roll(rates.garbled)) {
      count("webhook garbled");
      throw new CodedError("call-failed", "EOF, by the simulator");
    }
    if (!roll(rates.refused)) return { allowed: true };
    count("webhook refused");
    return { allowed: false, status: { ...dice.pick(ANSWERS), message: "by the simulator" } };
  };
  return {
    async post({ text }, signal): Promise<PostAnswer> {
      const { uid, isOwn } = readReview(text);
      const response = { uid, ...(await judge(isOwn, signal)) };
      return {
        status: 200,
        text: JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response }),
      };
    },
    storm(next) {
      rates = next;
    },
  };
}

function readReview(text: string): { uid: unknown; isOwn: boolean } {
  const review: unknown = JSON.parse(text);
  const request = isRecord(review) && isRecord(review["request"]) ? review["request"] : {};
  const user = isRecord(request["userInfo"]) ? request["userInfo"]["username"] : undefined;
  return { uid: request["uid"], isOwn: user === LOOPBACK_USER.username };
}

/** Asks about everything that the controllers of workloads and traffic write, events excepted. */
export function webhookConfiguration(hasEstate: boolean): KubeObject {
  const [first] = WEBHOOK_CONFIGURATION.webhooks;
  if (!hasEstate || first === undefined) return WEBHOOK_CONFIGURATION;
  const rule = { operations: ["*"], apiVersions: ["*"], apiGroups: ["", "storage.k8s.io"], resources: OF_THE_ESTATE };
  return { ...WEBHOOK_CONFIGURATION, webhooks: [{ ...first, rules: [...first.rules, rule] }] };
}

const OF_THE_ESTATE = [
  "configmaps",
  "serviceaccounts",
  "namespaces/*",
  "persistentvolumes",
  "persistentvolumes/status",
  "persistentvolumeclaims/status",
  "replicationcontrollers",
  "replicationcontrollers/*",
];

const WEBHOOK_CONFIGURATION = {
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "ValidatingWebhookConfiguration",
  metadata: { name: "simulator" },
  webhooks: [
    {
      name: "all.simulator.example",
      clientConfig: { url: "https://192.0.2.7/" },
      admissionReviewVersions: ["v1"],
      sideEffects: "None",
      failurePolicy: "Fail",
      timeoutSeconds: TIMEOUT_SECONDS,
      rules: [
        {
          operations: ["*"],
          apiVersions: ["*"],
          apiGroups: [""],
          resources: [
            "pods",
            "pods/status",
            "pods/binding",
            "endpoints",
            "persistentvolumeclaims",
            "resourcequotas/status",
          ],
        },
        {
          operations: ["*"],
          apiVersions: ["*"],
          apiGroups: ["apps", "batch", "policy", "discovery.k8s.io", "autoscaling"],
          resources: ["*/*"],
        },
      ],
    },
  ],
};
