import { createHash } from "node:crypto";
import type { KubeObject } from "../../api/object.ts";
import { type Clock, SECOND } from "../../base/clock.ts";
import type { ConvertObjects } from "../ports/conversion.ts";
import { UnansweredError } from "../ports/unanswered.ts";

/** Objects of one definition in its other versions, as its webhook converts them. */
export interface ConvertedObjects {
  /** The object in that version. Throws `UnansweredError` where the webhook has not been asked for it lately. */
  convert(object: KubeObject, apiVersion: string): KubeObject;
  /** All of them, in their order. Rejects with an ApiError when the webhook does not convert them. */
  convertAll(objects: readonly KubeObject[], apiVersion: string): Promise<readonly KubeObject[]>;
}

/** An answer counts for so long, so that a webhook that was mended is heard. A decision asks again after that. */
const MAX_AGE_MS = 30 * SECOND;
/** The oldest answers go when all of them stand for more. A decision that misses one asks again. */
const MAX_CHARACTERS = 32 * 1024 * 1024;

interface Answer {
  readonly pending: Promise<KubeObject>;
  readonly characters: number;
  untilMs: number;
  /** Undefined while the webhook has not answered. */
  object?: KubeObject;
}

/** What conversion webhooks have answered lately. */
interface ConversionAnswers {
  get(key: string): Readonly<Answer> | undefined;
  /** `characters` is how much the answer weighs. A failure is forgotten: only those who wait hear of it. */
  add(key: string, characters: number, pending: Promise<KubeObject>): void;
}

/** The answers of all conversion webhooks together. */
export function createConversionAnswers(clock: Pick<Clock, "monotonic">): ConversionAnswers {
  const answers = new Map<string, Answer>();
  let kept = 0;
  const remove = (key: string, answer: Answer) => {
    if (answers.get(key) !== answer) return;
    answers.delete(key);
    kept -= answer.characters;
  };
  return {
    get(key) {
      const answer = answers.get(key);
      if (answer !== undefined && answer.untilMs <= clock.monotonic()) remove(key, answer);
      return answers.get(key);
    },
    add(key, characters, pending) {
      // While it is awaited it does not age: a call has a time limit of its own.
      const answer: Answer = { pending, characters, untilMs: Number.POSITIVE_INFINITY };
      answers.set(key, answer);
      kept += characters;
      for (const [oldest, old] of answers) {
        if (kept <= MAX_CHARACTERS || old === answer) break;
        remove(oldest, old);
      }
      const keep = (object: KubeObject) => {
        answer.object = object;
        answer.untilMs = clock.monotonic() + MAX_AGE_MS;
      };
      pending.then(keep, () => remove(key, answer));
    },
  };
}

/**
 * What an object was converted to is known by the object's whole text, so that an answer counts for exactly what was
 * asked; those who ask the same at one time share one question. `scope` tells the definitions, and the generations of
 * one, apart.
 */
export function createConvertedObjects(
  answers: ConversionAnswers,
  scope: string,
  ask: ConvertObjects,
): ConvertedObjects {
  const keyOf = (object: KubeObject, apiVersion: string) => {
    const text = JSON.stringify(object);
    const hash = createHash("sha256").update(text).digest("base64");
    return { key: `${scope} ${apiVersion} ${hash}`, characters: text.length };
  };
  const convertAll = async (objects: readonly KubeObject[], apiVersion: string): Promise<KubeObject[]> => {
    const pending = new Map<KubeObject, Promise<KubeObject>>();
    const unasked: { readonly object: KubeObject; readonly key: string; readonly characters: number }[] = [];
    for (const object of new Set(objects.filter((one) => one.apiVersion !== apiVersion))) {
      const { key, characters } = keyOf(object, apiVersion);
      const known = answers.get(key);
      if (known) pending.set(object, known.pending);
      else unasked.push({ object, key, characters });
    }
    const asked =
      unasked.length === 0
        ? undefined
        : ask(
            unasked.map(({ object }) => object),
            apiVersion,
          );
    for (const [index, { object, key, characters }] of unasked.entries()) {
      const answer = answerAt(asked, index);
      pending.set(object, answer);
      answers.add(key, characters, answer);
    }
    return await Promise.all(objects.map(async (object) => (await pending.get(object)) ?? object));
  };
  return {
    convertAll,
    convert(object, apiVersion) {
      if (object.apiVersion === apiVersion) return object;
      const known = answers.get(keyOf(object, apiVersion).key)?.object;
      if (known !== undefined) return known;
      throw new UnansweredError(async () => {
        await convertAll([object], apiVersion);
      });
    },
  };
}

async function answerAt(asked: Promise<readonly KubeObject[]> | undefined, index: number): Promise<KubeObject> {
  const object = (await asked)?.[index];
  if (object === undefined) throw new Error("a conversion gave fewer objects than it was given");
  return object;
}
