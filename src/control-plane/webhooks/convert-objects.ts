import { ApiError } from "../../api/api-error.ts";
import type { CustomResourceDefinition, WebhookConversion } from "../../api/gen/types.ts";
import type { KubeObject } from "../../api/object.ts";
import { SECOND } from "../../base/clock.ts";
import { codeOf, messageOf } from "../../base/errors.ts";
import type { ConnectConversion } from "../ports/conversion.ts";
import { conversionReviewOf, readConverted } from "./conversion-review.ts";
import type { CallWebhook } from "./webhook-client.ts";

interface ConversionDeps {
  /** Makes a client of the webhook of one definition, whose calls wait for no other's. */
  newClient(): CallWebhook;
  newUid(): string;
}

/** Upstream's limit, which no definition can change. */
const TIMEOUT_MS = 30 * SECOND;
/** What one review brings at most, so that its answer stays well below what is read of one. */
const MAX_REVIEW_OBJECTS = 500;
const MAX_REVIEW_CHARACTERS = 2 * 1024 * 1024;

/** Asks conversion webhooks: one review for many objects, one after the other where they are too many for one. */
export function createConversions({ newClient, newUid }: ConversionDeps): ConnectConversion {
  return (definition) => {
    const call = newClient();
    const webhook = webhookOf(definition);
    const convert = async (objects: readonly KubeObject[], apiVersion: string) => {
      const uid = newUid();
      const question = { uid, objects, apiVersion, versions: webhook.conversionReviewVersions };
      try {
        const answer = await call(placeOf(webhook), conversionReviewOf(question), TIMEOUT_MS);
        return readConverted(answer, question);
      } catch (error) {
        if (codeOf(error) !== "webhook-failed" && codeOf(error) !== "conversion-failed") throw error;
        const isAnswer = codeOf(error) === "conversion-failed";
        throw failedError(objects, isAnswer ? messageOf(error) : `failed: ${messageOf(error)}`);
      }
    };
    return async (objects, apiVersion) => {
      const converted: KubeObject[] = [];
      for (const batch of batchesOf(objects)) converted.push(...(await convert(batch, apiVersion)));
      return converted;
    };
  };
}

/** Validation has seen to it that the webhook is there. */
function webhookOf({ spec }: CustomResourceDefinition): WebhookConversion {
  return spec.conversion?.webhook ?? { conversionReviewVersions: [] };
}

/** A bundle of nothing but blanks is none. */
function placeOf({ clientConfig: { caBundle = "", ...place } = {} }: WebhookConversion) {
  const isBlank = Buffer.from(caBundle, "base64").toString().trim() === "";
  return { ...place, ...(!isBlank && { caBundle }) };
}

/** Upstream's answer: the words alone, without a reason. */
function failedError([first]: readonly KubeObject[], why: string): ApiError {
  const kind = `${first?.apiVersion ?? ""}, Kind=${first?.kind ?? ""}`;
  return new ApiError("InternalError", `conversion webhook for ${kind} ${why}`, {}, { foreign: { code: 500 } });
}

function batchesOf(objects: readonly KubeObject[]): KubeObject[][] {
  const batches: KubeObject[][] = [];
  let batch: KubeObject[] = [];
  let characters = 0;
  for (const object of objects) {
    const { length } = JSON.stringify(object);
    const isFull = batch.length === MAX_REVIEW_OBJECTS || characters + length > MAX_REVIEW_CHARACTERS;
    if (batch.length === 0 || isFull) {
      batch = [];
      batches.push(batch);
      characters = 0;
    }
    batch.push(object);
    characters += length;
  }
  return batches;
}
