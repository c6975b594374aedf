import { expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { readerOf, refusalOf, requestFor } from "./__fixtures__/admission-bench.ts";
import { createDefaultIngressClass } from "./default-ingress-class.ts";

const ingressClass = (name: string, isDefault: string): KubeObject => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "IngressClass",
  metadata: { name, annotations: { "ingressclass.kubernetes.io/is-default-class": isDefault } },
});
const ingress = (spec: object, annotations: Readonly<Record<string, string>> = {}): KubeObject => ({
  apiVersion: "networking.k8s.io/v1",
  kind: "Ingress",
  metadata: { name: "i", annotations },
  spec,
});
const pluginWith = (...classes: KubeObject[]) =>
  createDefaultIngressClass(readerOf({ "ingressclasses.networking.k8s.io": classes }));
const ask = (plugin: ReturnType<typeof pluginWith>, object: KubeObject, operation: "CREATE" | "UPDATE" = "CREATE") =>
  plugin.mutate?.(requestFor("ingresses.networking.k8s.io", { operation, object }));

const ONE = pluginWith(ingressClass("other", "false"), ingressClass("nginx", "true"));

it("an Ingress without a class gets the default one", () => {
  const spec = { defaultBackend: { service: { name: "s", port: { number: 80 } } } };
  expect(ask(ONE, ingress(spec))).toMatchObject({ spec: { ...spec, ingressClassName: "nginx" } });
});

it.each<[string, Parameters<typeof ask>]>([
  ["names a class", [ONE, ingress({ ingressClassName: "other" })]],
  ["names a class by its annotation", [ONE, ingress({}, { "kubernetes.io/ingress.class": "" })]],
  ["is updated", [ONE, ingress({}), "UPDATE"]],
  ["comes where no class is the default", [pluginWith(ingressClass("other", "false")), ingress({})]],
])("an Ingress that %s stays as it is", (_what, call) => {
  expect(ask(...call)).toBeUndefined();
});

it("two default classes refuse an Ingress without one", () => {
  const two = pluginWith(ingressClass("a", "true"), ingressClass("b", "true"));
  const { message, reason } = refusalOf(two, requestFor("ingresses.networking.k8s.io", { object: ingress({}) }));
  expect(reason).toBe("Forbidden");
  expect(message).toContain("Internal error occurred: 2 default IngressClasses were found, only 1 allowed");
  expect(ask(two, ingress({ ingressClassName: "b" }))).toBeUndefined();
});
