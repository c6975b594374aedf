import type { ResourceKind, Strategy } from "../../ports/resource-kind.ts";
import { defineKind } from "../define-kind.ts";
import { strategyOf } from "../typed-strategy.ts";
import { type AnyWebhook, validateWebhooks } from "./webhook-rules.ts";

const DEFAULT_TIMEOUT_SECONDS = 10;
const HTTPS_PORT = 443;

/** `MutatingWebhookConfiguration` and `ValidatingWebhookConfiguration`. */
export const WEBHOOK_CONFIGURATIONS: readonly ResourceKind[] = [
  defineConfiguration(
    "MutatingWebhookConfiguration",
    "mutatingwebhookconfigurations",
    strategyOf("MutatingWebhookConfiguration", {
      default({ webhooks = [] }) {
        for (const webhook of webhooks) {
          setDefaults(webhook);
          webhook.reinvocationPolicy ??= "Never";
        }
      },
      validate: ({ webhooks }) => validateWebhooks(webhooks),
      generation: true,
    }),
  ),
  defineConfiguration(
    "ValidatingWebhookConfiguration",
    "validatingwebhookconfigurations",
    strategyOf("ValidatingWebhookConfiguration", {
      default: ({ webhooks = [] }) => webhooks.forEach(setDefaults),
      validate: ({ webhooks }) => validateWebhooks(webhooks),
      generation: true,
    }),
  ),
];

function defineConfiguration(kind: string, plural: string, strategy: Strategy): ResourceKind {
  const group = "admissionregistration.k8s.io";
  return defineKind({ kind, plural, group, namespaced: false, categories: ["api-extensions"], strategy });
}

function setDefaults(webhook: AnyWebhook): void {
  webhook.failurePolicy ??= "Fail";
  webhook.matchPolicy ??= "Equivalent";
  webhook.namespaceSelector ??= {};
  webhook.objectSelector ??= {};
  webhook.timeoutSeconds ??= DEFAULT_TIMEOUT_SECONDS;
  for (const rule of webhook.rules ?? []) rule.scope ??= "*";
  const { service } = webhook.clientConfig;
  if (service !== undefined) service.port ??= HTTPS_PORT;
}
