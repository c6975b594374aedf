import { isProxyable } from "../node-proxy/reachable-address.ts";
import type { ConnectConversion } from "../ports/conversion.ts";
import type { AdmissionPlugin, Authorize } from "../ports/request.ts";
import type { ResourceReader } from "../ports/resources.ts";
import type { KindTable } from "../registry/kind-table.ts";
import { viewsOf } from "../registry/kind-table.ts";
import { createConversions } from "../webhooks/convert-objects.ts";
import { createWebhookAdmission } from "../webhooks/webhook-admission.ts";
import { type CallWebhook, createWebhookClient } from "../webhooks/webhook-client.ts";
import { createWebhooks } from "../webhooks/webhook-configurations.ts";
import { createWebhookMetrics } from "../webhooks/webhook-metrics.ts";
import type { ControlPlaneDeps } from "./control-plane-ports.ts";

interface ClientParts extends Pick<ControlPlaneDeps, "webhooks" | "nodes" | "random" | "clock"> {
  readonly reader: ResourceReader;
}

interface WebhookParts extends ClientParts, Pick<ControlPlaneDeps, "metrics"> {
  readonly kinds: KindTable;
  readonly authorize: Authorize;
}

/** The plugin that asks admission webhooks. */
export function composeWebhooks(parts: WebhookParts): AdmissionPlugin {
  const { reader, kinds, authorize, clock, random, metrics } = parts;
  return createWebhookAdmission({
    call: newClient(parts),
    clock,
    metrics: createWebhookMetrics(metrics),
    newUid: random.uuid,
    webhooks: createWebhooks(reader),
    reader,
    authorize,
    viewsOf: (kind) => viewsOf(kinds, kind),
  });
}

/** The way to the conversion webhooks of definitions, each with a client of its own: one that hangs keeps no other waiting. */
export function composeConversions(parts: ClientParts): ConnectConversion {
  return createConversions({ newClient: () => newClient(parts), newUid: parts.random.uuid });
}

function newClient({ webhooks, nodes: { resolveHost }, reader, clock, random }: ClientParts): CallWebhook {
  return createWebhookClient({
    ...webhooks,
    resolveHost,
    reader,
    clock,
    random: random.number,
    mayReach: isProxyable,
  });
}
