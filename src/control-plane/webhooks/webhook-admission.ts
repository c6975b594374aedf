import { isDeepStrictEqual } from "node:util";
import { apiVersionOf, type KubeObject } from "../../api/object.ts";
import { CONDITIONS_BUDGET, meetsConditions } from "../admission/policies/evaluate-conditions.ts";
import { createActivation } from "../admission/policies/policy-activation.ts";
import { refusal } from "../admission/refusal.ts";
import type { AdmissionPlugin, AdmissionRequest, Authorize } from "../ports/request.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import type { ResourceReader } from "../ports/resources.ts";
import { UnansweredError } from "../ports/unanswered.ts";
import { LOOPBACK_USER } from "../ports/user.ts";
import { reviewedRequest } from "./admission-review.ts";
import { type AskDeps, askWebhook, type Question, type WebhookVerdict } from "./ask-webhook.ts";
import { matchWebhook } from "./match-webhook.ts";
import type { Webhook, Webhooks } from "./webhook-configurations.ts";

interface WebhookAdmissionDeps extends AskDeps {
  readonly webhooks: Webhooks;
  readonly reader: Pick<ResourceReader, "get">;
  readonly authorize: Authorize;
  /** All kinds that show the objects of this one, itself included: its other versions. */
  viewsOf(kind: ResourceKind): readonly ResourceKind[];
}

const NAME = "AdmissionWebhooks";

/**
 * Upstream's MutatingAdmissionWebhook and ValidatingAdmissionWebhook. A decision never waits: it stops where a webhook
 * has not answered yet, and is made again with the answer, on the state of that time. An answer counts for exactly the
 * question that was asked, so that a webhook is asked again when the object has changed meanwhile.
 */
export function createWebhookAdmission(deps: WebhookAdmissionDeps): AdmissionPlugin {
  return {
    name: NAME,
    forRequest() {
      const mutating = deps.webhooks.list("mutating");
      const validating = deps.webhooks.list("validating");
      return mutating.length + validating.length === 0 ? undefined : consult(deps, { mutating, validating });
    },
  };
}

interface RequestWebhooks {
  readonly mutating: readonly Webhook[];
  readonly validating: readonly Webhook[];
}

/** A webhook that the request concerns, and what it is asked. */
interface Consulted {
  readonly webhook: Webhook;
  readonly question: Question;
}

function consult(deps: WebhookAdmissionDeps, { mutating, validating }: RequestWebhooks): AdmissionPlugin {
  const verdicts = new Map<string, WebhookVerdict>();
  let rounds = createRounds();

  const consultedOf = (webhook: Webhook, request: AdmissionRequest): Consulted | undefined => {
    const view = matchWebhook(deps, webhook, request);
    if (view === undefined) return undefined;
    const shown = inView(view, request);
    return isWanted(deps, webhook, shown) ? { webhook, question: questionOf(view, request, shown) } : undefined;
  };
  const verdictOn = (consulted: Consulted) => verdicts.get(keyOf(consulted));
  const askAll = (unanswered: readonly Consulted[]) =>
    new UnansweredError(async () => {
      const asked = unanswered.map(async (consulted) => {
        verdicts.set(keyOf(consulted), await askWebhook(deps, consulted.webhook, consulted.question));
      });
      await Promise.all(asked);
    });
  const mutate = (request: AdmissionRequest): KubeObject | undefined => {
    let { object } = request;
    for (const webhook of mutating) {
      const consulted = consultedOf(webhook, { ...request, object });
      if (consulted === undefined || !rounds.includes(webhook)) continue;
      const verdict = verdictOn(consulted);
      if (verdict === undefined) throw askAll([consulted]);
      settle(verdict, request);
      const next = verdict.kind === "changed" ? shownAs(request.kind, consulted.question.view, verdict.object) : object;
      rounds.end(webhook, !isDeepStrictEqual(next, object));
      object = next;
    }
    rounds.output = object;
    return object;
  };
  const judge = (request: AdmissionRequest): void => {
    const consulted = validating.flatMap((webhook) => consultedOf(webhook, request) ?? []);
    const unanswered = consulted.filter((one) => verdictOn(one) === undefined);
    if (unanswered.length > 0) throw askAll(unanswered);
    for (const one of consulted) {
      const verdict = verdictOn(one);
      if (verdict !== undefined) settle(verdict, request);
    }
  };

  return {
    name: NAME,
    mutate(request) {
      if (isExempt(request)) return undefined;
      if (request.isReinvocation) rounds.begin(request.object);
      else rounds = createRounds();
      return mutate(request);
    },
    wantsReinvocation: () => rounds.wantsAnother,
    validate(request) {
      if (isExempt(request)) return;
      // A deletion has no object that others could change first, and is judged in one step.
      if (request.operation === "DELETE") {
        rounds = createRounds();
        mutate(request);
      }
      judge(request);
    },
  };
}

/** Tells the webhook's warnings, and throws its refusal. */
function settle(verdict: WebhookVerdict, { warn }: AdmissionRequest): void {
  for (const warning of verdict.warnings) warn(warning);
  if (verdict.kind === "refused") throw verdict.error;
}

const keyOf = ({ webhook, question }: Consulted) =>
  `${webhook.type} ${webhook.id} ${JSON.stringify(question.reviewed)}`;

/** Subresources whose updates change an object of which the client has sent no version. */
const ACTIONS = ["binding", "eviction", "scale"];

/** The configurations themselves, so that no webhook makes itself irremovable, and the effects of actions. */
function isExempt({ kind, subresource, operation, user, current }: AdmissionRequest): boolean {
  if (kind.group === "admissionregistration.k8s.io") return true;
  // After the storage version of a definition has changed, stored objects are brought to it. Upstream asks nobody, either.
  if (user === LOOPBACK_USER && current !== undefined && current.apiVersion !== apiVersionOf(kind)) return true;
  return operation === "UPDATE" && ACTIONS.includes(subresource);
}

/** The request with its objects in the version that a webhook wants. */
function inView(view: ResourceKind, request: AdmissionRequest): AdmissionRequest {
  const object = request.object && shownAs(view, request.kind, request.object);
  const current = request.current && shownAs(view, request.kind, request.current);
  return { ...request, object, current };
}

/** Whether the webhook's conditions hold. One that cannot be evaluated refuses the request, or takes the webhook out of it. */
function isWanted({ authorize }: WebhookAdmissionDeps, webhook: Webhook, request: AdmissionRequest): boolean {
  const { conditions, ignoresFailures } = webhook;
  if (conditions.length === 0) return true;
  const input = { request, namespace: undefined, params: null, variables: [], spend: () => undefined };
  const read = createActivation({ ...input, authorize });
  const met = meetsConditions(conditions, { budget: CONDITIONS_BUDGET, read });
  if (typeof met === "boolean") return met;
  if (ignoresFailures) return false;
  throw refusal(request, met.error);
}

function questionOf(
  view: ResourceKind,
  request: AdmissionRequest,
  { object, current }: Pick<AdmissionRequest, "object" | "current">,
): Question {
  return { view, request, object, reviewed: reviewedRequest(request, { view, object, current }) };
}

/** The object of one version of a resource in another one. */
function shownAs(wanted: ResourceKind, given: ResourceKind, object: KubeObject): KubeObject {
  // What the client of an action sends, such as an eviction, has one version.
  if (wanted === given || object.kind !== given.kind) return object;
  const stored = given.storedAs?.toStored(object) ?? object;
  return wanted.storedAs?.fromStored(stored) ?? stored;
}

/** Which webhooks are called in the second round, in which everything that changes objects has its turn again. */
interface Rounds {
  readonly wantsAnother: boolean;
  /** The object as the last round left it. */
  output: KubeObject | undefined;
  /** Begins the second round, with the object as the other plugins have left it. */
  begin(object: KubeObject | undefined): void;
  includes(webhook: Webhook): boolean;
  end(webhook: Webhook, changed: boolean): void;
}

/** Follows `webhookReinvokeContext` of k8s.io/apiserver/pkg/admission/plugin/webhook/mutating. */
function createRounds(): Rounds {
  const called = new Set<string>();
  const again = new Set<string>();
  let isSecond = false;
  let changedByWebhook = false;
  const reinvokeCalled = () => {
    for (const id of called) again.add(id);
    called.clear();
  };
  return {
    output: undefined,
    get wantsAnother() {
      return changedByWebhook && !isSecond;
    },
    begin(object) {
      isSecond = true;
      if (!isDeepStrictEqual(object, this.output)) reinvokeCalled();
    },
    includes: ({ id }) => !isSecond || again.has(id),
    end(webhook, changed) {
      if (changed) {
        reinvokeCalled();
        changedByWebhook = true;
      }
      if (webhook.isReinvocable) called.add(webhook.id);
    },
  };
}
