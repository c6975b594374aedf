import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../../api/object.ts";
import { isEffect, isMigration, type MatchDeps, matchRequest } from "../admission/matching/match-request.ts";
import { createRounds } from "../admission/matching/rounds.ts";
import { inView, shownAs, type ViewedRequest } from "../admission/matching/viewed-request.ts";
import { meetsConditions } from "../admission/policies/evaluate-conditions.ts";
import { refusal } from "../admission/refusal.ts";
import type { AdmissionPlugin, AdmissionRequest, Authorize } from "../ports/request.ts";
import { UnansweredError } from "../ports/unanswered.ts";
import { type AskDeps, askWebhook, type Question, questionOf, type WebhookVerdict } from "./ask-webhook.ts";
import type { Webhook, Webhooks } from "./webhook-configurations.ts";

interface WebhookAdmissionDeps extends AskDeps, MatchDeps {
  readonly webhooks: Webhooks;
  readonly authorize: Authorize;
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
    const view = matchRequest(deps, webhook, request);
    if (view === undefined) return undefined;
    const shown = inView(view, request);
    return isWanted(deps, webhook, shown) ? { webhook, question: questionOf(shown) } : undefined;
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
      if (consulted === undefined || !rounds.includes(webhook.id)) continue;
      const verdict = verdictOn(consulted);
      if (verdict === undefined) throw askAll([consulted]);
      settle(verdict, request);
      const { view } = consulted.question.request;
      const next = verdict.kind === "changed" ? shownAs(request.kind, view, verdict.object) : object;
      rounds.end(webhook.id, { changed: !isDeepStrictEqual(next, object), isReinvocable: webhook.isReinvocable });
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

/** The configurations themselves, so that no webhook makes itself irremovable, and what is no request of a client. */
function isExempt(request: AdmissionRequest): boolean {
  return request.kind.group === "admissionregistration.k8s.io" || isMigration(request) || isEffect(request);
}

/** Whether the webhook's conditions hold. One that cannot be evaluated refuses the request, or takes the webhook out of it. */
function isWanted({ authorize }: WebhookAdmissionDeps, webhook: Webhook, request: ViewedRequest): boolean {
  const { conditions, ignoresFailures } = webhook;
  const met = meetsConditions(conditions, { request, params: null, authorize });
  if (typeof met === "boolean") return met;
  if (ignoresFailures) return false;
  throw refusal(request, met.error);
}
