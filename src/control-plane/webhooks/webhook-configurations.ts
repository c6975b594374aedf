import type { MutatingWebhook, ValidatingWebhook } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { labelSelectorOf } from "../../api/selectors/label-selector.ts";
import type { RequestSelection } from "../admission/matching/match-request.ts";
import { compileMatchConditions, type NamedProgram } from "../cel/policies/compile-policy.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { type ReviewVersion, spokenReviewVersion } from "./review-version.ts";
import type { WebhookPlace } from "./webhook-client.ts";

export type WebhookType = "mutating" | "validating";

/** A webhook of a configuration, ready to be matched and called. */
export interface Webhook extends RequestSelection {
  readonly type: WebhookType;
  /** The version of AdmissionReview in which it is asked. */
  readonly reviewVersion: ReviewVersion;
  /** It tells webhooks of one name in several configurations apart. */
  readonly id: string;
  readonly name: string;
  readonly place: WebhookPlace;
  /** All of them must hold. */
  readonly conditions: readonly NamedProgram[];
  /** A call that fails does not fail the request. */
  readonly ignoresFailures: boolean;
  readonly timeoutMs: number;
  readonly supportsDryRun: boolean;
  /** Called once more when somebody else has changed the object after it. */
  readonly isReinvocable: boolean;
}

/** The webhooks of a cluster in the order in which they are called: by the names of their configurations. */
export interface Webhooks {
  list(type: WebhookType): readonly Webhook[];
}

const RESOURCES = {
  mutating: "mutatingwebhookconfigurations.admissionregistration.k8s.io",
  validating: "validatingwebhookconfigurations.admissionregistration.k8s.io",
} as const;

/** Reads the configurations anew for each request, and keeps what it made of those that have not changed. */
export function createWebhooks(reader: Pick<ResourceReader, "list">): Webhooks {
  const kept: Record<WebhookType, ReadonlyMap<string, readonly Webhook[]>> = {
    mutating: new Map(),
    validating: new Map(),
  };
  return {
    list(type) {
      const known = kept[type];
      const next = new Map<string, readonly Webhook[]>();
      for (const configuration of reader.list(RESOURCES[type])) {
        const { uid = "", resourceVersion = "" } = configuration.metadata;
        const version = `${uid}/${resourceVersion}`;
        next.set(version, known.get(version) ?? webhooksOf(type, configuration));
      }
      kept[type] = next;
      return [...next.values()].flat();
    },
  };
}

function webhooksOf(type: WebhookType, configuration: KubeObject): Webhook[] {
  const { name: owner = "" } = configuration.metadata;
  if (type === "validating") {
    const { webhooks = [] } = typed("ValidatingWebhookConfiguration", configuration);
    return webhooks.map((webhook) => webhookOf(type, owner, webhook));
  }
  const { webhooks = [] } = typed("MutatingWebhookConfiguration", configuration);
  return webhooks.map((webhook) => webhookOf(type, owner, webhook));
}

function webhookOf(
  type: WebhookType,
  owner: string,
  webhook: ValidatingWebhook & Pick<MutatingWebhook, "reinvocationPolicy">,
): Webhook {
  const { name, clientConfig, rules = [], timeoutSeconds = 10 } = webhook;
  return {
    type,
    // Validation wants one that is spoken.
    reviewVersion: spokenReviewVersion(webhook.admissionReviewVersions) ?? "v1",
    id: `${owner}/${name}`,
    name,
    place: clientConfig,
    rules,
    namespaceSelector: labelSelectorOf(webhook.namespaceSelector ?? {}),
    objectSelector: labelSelectorOf(webhook.objectSelector ?? {}),
    conditions: compileMatchConditions(webhook.matchConditions, "matchConditions", false).programs,
    matchesEquivalents: webhook.matchPolicy !== "Exact",
    ignoresFailures: webhook.failurePolicy === "Ignore",
    timeoutMs: timeoutSeconds * 1000,
    supportsDryRun: webhook.sideEffects === "None" || webhook.sideEffects === "NoneOnDryRun",
    isReinvocable: webhook.reinvocationPolicy === "IfNeeded",
  };
}
