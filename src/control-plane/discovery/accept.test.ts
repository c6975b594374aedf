import { expect, test } from "vitest";
import { negotiateDiscovery, negotiateOpenApiV2 } from "./accept.ts";

const as = (version: string) => `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;

test.each<[string | undefined, string]>([
  [undefined, "plain"],
  ["*/*", "plain"],
  ["application/json, */*", "plain"],
  [as("v2"), "v2"],
  [`${as("v2")},${as("v2beta1")},application/json`, "v2"],
  [`${as("v2beta1")},application/json`, "v2beta1"],
  [`application/json;q=0.9,${as("v2")}`, "v2"],
  [`application/json,${as("v2")}`, "plain"],
  [`${as("v3")},${as("v2beta1")};q=0.5`, "v2beta1"],
  ["application/json;as=Table;g=meta.k8s.io;v=v1,application/json", "plain"],
  [as("v2").replaceAll(";", "; "), "v2"],
  [`${as("v2")};q=0`, "plain"],
  ["application/vnd.kubernetes.protobuf", "protobuf"],
  ["application/vnd.kubernetes.protobuf, */*", "protobuf"],
  [`application/vnd.kubernetes.protobuf;q=0.5,${as("v2")}`, "v2"],
  ["application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json", "plain"],
])("discovery for %s is %s", (accept, expected) => {
  expect(negotiateDiscovery(accept)).toBe(expected);
});

test.each<[string | undefined, string]>([
  [undefined, "json"],
  ["application/json", "json"],
  ["application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "protobuf"],
  ["application/com.github.proto-openapi.spec.v2.v1.0+protobuf", "protobuf"],
  ["application/json,application/com.github.proto-openapi.spec.v2@v1.0+protobuf", "json"],
])("OpenAPI v2 for %s is %s", (accept, expected) => {
  expect(negotiateOpenApiV2(accept)).toBe(expected);
});
