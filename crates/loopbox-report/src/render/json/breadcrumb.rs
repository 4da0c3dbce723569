//! The app's breadcrumbs as JSON.

use crate::model::Analysis;
use crate::model::time::ms_between;
use loopbox_format::model::Breadcrumb;

json_object! {
    /// A breadcrumb of the app, with the app's own name for it.
    pub(crate) struct BreadcrumbView<'a>(a: &'a Analysis, breadcrumb: &'a Breadcrumb) {
        /// When the breadcrumb was left, relative to the dump.
        at_ms: f64 = ms_between(breadcrumb.at_ns, a.dump_ns),
        /// When the breadcrumb was left, as time of day in UTC.
        clock: Option<String> = a.wall_clock().time_of_day(breadcrumb.at_ns),
        /// The name that the app gave the breadcrumb.
        name: &'a str = &breadcrumb.name,
    }
}

impl<'a> BreadcrumbView<'a> {
    /// All breadcrumbs of a report, oldest first.
    pub(crate) fn all(a: &'a Analysis) -> Vec<Self> {
        a.breadcrumbs.iter().map(|breadcrumb| Self::new(a, breadcrumb)).collect()
    }
}
