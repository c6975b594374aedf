import { expect, it } from "vitest";
import { createMetrics } from "../../base/metrics.ts";
import { createCallMetrics } from "./call-metrics.ts";

it("counts under client-go's names, for all clients of a process on the same series", async () => {
  const metrics = createMetrics();
  for (const host of ["a:6443", "b:6443"]) {
    const calls = createCallMetrics(metrics, host);
    calls.countRequest("GET", "429");
    calls.countRetry("GET", "429");
    calls.observeCall("GET", 3);
    calls.observeWait("GET", 0.1);
    calls.observeSize("request", "GET", 0);
    calls.observeSize("response", "GET", 5_000);
  }
  const lines = (await metrics.render()).split("\n");
  for (const line of [
    'rest_client_requests_total{code="429",method="GET",host="a:6443"} 1',
    'rest_client_request_retries_total{code="429",verb="GET",host="b:6443"} 1',
    'rest_client_request_duration_seconds_bucket{le="2",verb="GET",host="a:6443"} 0',
    'rest_client_request_duration_seconds_bucket{le="4",verb="GET",host="a:6443"} 1',
    'rest_client_rate_limiter_duration_seconds_sum{verb="GET",host="a:6443"} 0.1',
    'rest_client_request_size_bytes_bucket{le="64",verb="GET",host="a:6443"} 1',
    'rest_client_response_size_bytes_bucket{le="4096",verb="GET",host="a:6443"} 0',
    'rest_client_response_size_bytes_bucket{le="16384",verb="GET",host="a:6443"} 1',
  ]) {
    expect(lines).toContain(line);
  }
});

it("counts nothing where nobody asks", () => {
  const calls = createCallMetrics(undefined, "a:6443");
  expect(() => calls.observeSize("request", "GET", 1)).not.toThrow();
});
