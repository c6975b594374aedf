import { computeServices } from "../model/service-table.ts";
import { podLink } from "./route.ts";
import { useTable } from "./state.ts";
import { Plain, State, Table, TableState } from "./words.tsx";

/** All services, and the addresses behind each. */
export function ServicesPage() {
  const services = useTable("services");
  const slices = useTable("endpointSlices");
  const rows = computeServices([...services.objects.values()], [...slices.objects.values()]);
  return (
    <>
      <h1 tabIndex={-1}>Services</h1>
      <TableState table={services} what="services" />
      <TableState table={slices} what="endpoints" />
      <Table caption="Services and their endpoints" head={["Service", "Type", "Addresses", "Ports", "Endpoints"]}>
        {rows.map(({ key, namespace, name, type, addresses, ports, endpoints, isDry }) => (
          <tr key={key}>
            <th scope="row">
              <span class="faint">
                <Plain text={namespace} />/
              </span>
              <Plain text={name} />
            </th>
            <td>
              <Plain text={type} />
            </td>
            <td>
              <Plain text={addresses.join(", ")} />
            </td>
            <td>
              <Plain text={ports.join(", ")} />
            </td>
            <td>
              {isDry && <State tone="bad" word="no endpoint is ready" />}
              <ul class="plain">
                {endpoints.map(({ address, pod, isReady, isEnding }) => (
                  <li key={address}>
                    <State
                      tone={isReady ? "good" : "wait"}
                      word={`${address}${isEnding ? ", ending" : isReady ? "" : ", not ready"}`}
                    />{" "}
                    {pod !== "" && (
                      <a href={podLink(namespace, pod)}>
                        <Plain text={pod} />
                      </a>
                    )}
                  </li>
                ))}
              </ul>
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}
