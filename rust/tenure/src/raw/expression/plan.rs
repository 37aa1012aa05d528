//! Plans: expressions that are checked once, and the views that a run lends them.

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use tenure_sys as sys;
use tenure_sys::{TNR_MAX_EXPRESSION_VIEWS, tnr_plan, tnr_view, tnr_view_mut};

use super::evaluate::Filling;
use super::node::OUTPUT;
use super::{Graph, Leaf, Lends, unbound};
use crate::ops::Extents;
use crate::raw::context::current;
use crate::raw::{LentMut, check, entered, failure, traced};
use crate::{Error, Result, layout};

/// Views in the order of a plan's inputs, lent for `'s`.
// The invariant: each address is that of a view as `Leaf` promises it for 's, or of one of `values`.
pub struct Inputs<'r, 's> {
    views: Filling<'r, *const tnr_view>,
    values: Filling<'r, tnr_view>,
    /// Inputs for which there was no room.
    dropped: usize,
    _lent: PhantomData<&'s ()>,
}

impl<'s> Inputs<'_, 's> {
    /// Gives `f` room for those of one call.
    #[inline(always)]
    pub(crate) fn with<R>(f: impl FnOnce(Inputs<'_, 's>) -> R) -> R {
        // No value of these is read before it is written.
        let mut views = [MaybeUninit::uninit(); TNR_MAX_EXPRESSION_VIEWS];
        let mut values = [MaybeUninit::uninit(); TNR_MAX_EXPRESSION_VIEWS];
        f(Inputs {
            views: Filling::new(&mut views),
            values: Filling::new(&mut values),
            dropped: 0,
            _lent: PhantomData,
        })
    }

    /// The next one. More than an expression can have are dropped.
    #[inline(always)]
    pub(crate) fn push(&mut self, leaf: Leaf<'s>) {
        if self.views.is_full() {
            self.dropped += 1;
            return;
        }
        let view = match leaf.0 {
            Lends::Address(view) => ptr::from_ref(view),
            Lends::Value(view) => self.values.push(view),
        };
        self.views.push(view);
    }

    /// Refuses more inputs than an expression can have.
    pub(crate) fn shapes(&self) -> Result<Vec<Extents>> {
        if self.dropped > 0 {
            let count = self.views.count + self.dropped;
            let why =
                format!("a plan of {count} inputs but it takes at most {TNR_MAX_EXPRESSION_VIEWS}");
            return Err(Error::invalid(why));
        }
        let shape = |nth| {
            // SAFETY: the address of a view, by the invariant.
            Extents::of(layout::extents(unsafe { &*self.views.get(nth) }))
        };
        Ok((0..self.views.count).map(shape).collect())
    }
}

/// The only handle on a plan, and the views that it reads beside its inputs; dropping it ends the
/// plan.
// The invariant: `kept` are views as `Leaf` promises them, for the lifetime of the graph that the
// plan was made of.
pub(crate) struct PlanHandle {
    plan: NonNull<tnr_plan>,
    kept: Box<[tnr_view]>,
}

// SAFETY: the handle is a token that the library takes from any thread; elements of the views may be
// read by any (`Element` is Sync, and views of it are Send and Sync).
unsafe impl Send for PlanHandle {}
// SAFETY: as above; `&self` changes nothing.
unsafe impl Sync for PlanHandle {}

impl Drop for PlanHandle {
    fn drop(&mut self) {
        // SAFETY: the handle is alive and not used again.
        unsafe { sys::tnr_plan_release(self.plan.as_ptr()) };
    }
}

impl Graph<'_> {
    /// A plan of this, of the call that has this number, for inputs and an output of these layouts.
    /// It is to be dropped before the lifetime of the graph ends.
    pub(crate) fn plan(
        &self,
        number: u32,
        inputs: &Inputs<'_, '_>,
        out: &tnr_view,
    ) -> Result<PlanHandle> {
        self.check(number)?;
        let reads_output =
            self.nodes().iter().flat_map(|node| node.inputs()).any(|one| one.kind() == OUTPUT);
        if reads_output {
            return Err(unbound());
        }
        entered()?;
        let out = tnr_view_mut { view: *out };
        self.in_largest_room(|mut call| {
            for nth in 0..inputs.views.count {
                call.lead(inputs.views.get(nth));
            }
            let expression = self.lowered(&mut call);
            // SAFETY: views are checked, those of the graph by its invariant; the rest is in the
            // rooms of `call`. Of `out` only the layout is looked at.
            let plan = unsafe { sys::tnr_plan_create(current(), &expression, ptr::null(), &out) };
            // SAFETY: as in `failure`; a function that gives NULL has written the status.
            let plan = NonNull::new(plan)
                .ok_or_else(|| failure(unsafe { (*sys::tnr_last_error()).status }))?;
            let kept = (inputs.views.count..call.views.count)
                // SAFETY: addresses of views of the graph, or of values in the room.
                .map(|nth| unsafe { call.views.get(nth).read() })
                .collect();
            Ok(PlanHandle { plan, kept })
        })
    }
}

impl PlanHandle {
    /// Writes every element of `out`, where the answer is Ok, and reads none.
    #[inline]
    pub(crate) fn run(&self, mut inputs: Inputs<'_, '_>, out: LentMut<'_>) -> Result<()> {
        for view in &self.kept {
            inputs.views.push(view);
        }
        entered()?;
        traced!(evaluate(&out.0.view));
        // SAFETY: views are checked and readable: the inputs for as long as they are lent, the kept
        // ones as the invariant says; what `LentMut` promises is what the call asks.
        check(unsafe {
            let (views, count) = (inputs.views.first, inputs.views.count as u32);
            sys::tnr_plan_run(current(), self.plan.as_ptr(), views, count, ptr::null(), out.0)
        })
    }
}
