// What a dashboard may say: Grafana's published types, with the options of each kind of
// panel by its name, and the queries of a Prometheus.
import type * as grafana from '@grafana/schema'
import type * as stat from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen'
import type * as table from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen'
import type * as timeseries from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen'

// Plain is a type as JSON has it: the values of an enumeration stand there as text.
type Plain<T> = unknown extends T ? T
  : T extends string ? `${T}`
  : T extends object ? { [K in keyof T]: Plain<T[K]> }
  : T

interface Query extends grafana.DataQuery {
  datasource: grafana.DataSourceRef
  expr: string
  legendFormat?: string
  exemplar?: boolean
  format?: 'table'
  instant?: boolean
  range?: boolean
}

interface FieldLink { title: string, url: string, targetBlank: boolean }

interface Fields<Custom> extends Omit<grafana.FieldConfigSource, 'defaults'> {
  defaults: Omit<grafana.FieldConfig, 'custom' | 'links' | 'thresholds'> & {
    custom?: Custom
    links?: FieldLink[]
    thresholds?: { mode: grafana.ThresholdsMode, steps: { value: number | null, color: string }[] }
  }
}

interface Kind<Name, Options, Custom> extends Omit<grafana.Panel, 'type' | 'options' | 'fieldConfig' | 'targets'> {
  id: number
  type: Name
  title: string
  description: string
  gridPos: grafana.GridPos
  datasource: grafana.DataSourceRef
  options: Options
  fieldConfig: Fields<Custom>
  targets: Query[]
}

type Panel = Kind<'stat', stat.Options, never>
  | Kind<'table', table.Options, table.FieldConfig>
  | Kind<'timeseries', timeseries.Options, timeseries.FieldConfig>

export type Dashboard = Plain<Omit<grafana.Dashboard, 'panels' | 'annotations'> & {
  uid: string
  title: string
  panels: Panel[]
  annotations: { list: (grafana.AnnotationQuery<Query> & { titleFormat: string })[] }
}>
