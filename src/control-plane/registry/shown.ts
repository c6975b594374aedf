import type { KubeObject } from "../../api/object.ts";
import type { StoredObject } from "../ports/object-store.ts";
import type { ResourceKind } from "../ports/resource-kind.ts";
import { viewOf } from "./object-view.ts";

/** Stored objects, with the kind in whose form they are. */
interface Shown {
  readonly kind: ResourceKind;
  readonly items: readonly StoredObject[];
}

/** The objects in the form of the kind where a webhook converts them, and else as they are. Rejects with an ApiError. */
export async function showAll(kind: ResourceKind, items: readonly StoredObject[]): Promise<Shown> {
  const conversion = kind.storedAs?.conversion;
  if (conversion === undefined) return { kind, items };
  const objects = await conversion.showAll(items.map(({ object }) => object));
  return { kind: conversion.shown, items: items.map((item, index) => inForm(item, objects[index] ?? item.object)) };
}

function inForm(item: StoredObject, object: KubeObject): StoredObject {
  const { key, revision } = item;
  return object === item.object ? item : { key, revision, object, json: Buffer.from(JSON.stringify(object)) };
}

/** One object as the kind shows it. Rejects with an ApiError when a webhook does not convert it. */
export async function showOne(kind: ResourceKind, stored: StoredObject): Promise<KubeObject> {
  const [object] = (await kind.storedAs?.conversion?.showAll([stored.object])) ?? [];
  return object ?? viewOf(kind, stored);
}
