import { expect, test } from "vitest";
import { typed } from "../../api/object.ts";
import { apiEndpoints, apiService } from "./first-objects.ts";

test.each(["127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::"])("no endpoint leads pods to %s", (address) => {
  expect(apiEndpoints({ serviceAddress: "10.96.0.1", address, port: 6443 })).toEqual([]);
});

test.each([
  ["192.0.2.1", "IPv4"],
  ["2001:db8::1", "IPv6"],
])("the endpoints of the API server are at %s", (address, addressType) => {
  const [endpoints, slice] = apiEndpoints({ serviceAddress: "10.96.0.1", address, port: 6443 });
  expect(endpoints).toMatchObject({ subsets: [{ addresses: [{ ip: address }], ports: [{ port: 6443 }] }] });
  expect(slice).toMatchObject({ addressType, endpoints: [{ addresses: [address] }] });
});

test("the service has the first address of the services' range and leads to the API server's port", () => {
  const { spec } = typed("Service", apiService({ serviceAddress: "10.96.0.1", address: "192.0.2.1", port: 6443 }));
  expect(spec).toMatchObject({ clusterIP: "10.96.0.1", ports: [{ port: 443, targetPort: 6443 }] });
});
