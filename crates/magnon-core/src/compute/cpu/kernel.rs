//! Loops as values, to be compiled for the processor's instructions.

/// Makes a [`Kernel`](crate::compute::instructions::Kernel) of a function of the same arguments,
/// which must be marked `#[inline(always)]`.
macro_rules! kernel {
    ($name:ident, $function:path, ($($field:ident: $type:ty),*) $(-> $output:ty)?) => {
        pub struct $name<'a, T> {
            $(pub $field: $type),*
        }

        impl<T: $crate::compute::Scalar> $crate::compute::instructions::Kernel for $name<'_, T> {
            type Output = kernel!(@output $($output)?);
            #[inline(always)]
            fn run(self) -> Self::Output {
                $function($(self.$field),*)
            }
        }
    };
    (@output) => { () };
    (@output $output:ty) => { $output };
}

pub(super) use kernel;
